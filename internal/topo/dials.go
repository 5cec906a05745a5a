package topo

import "fmt"

// mostDials are tried for a first lane.
const mostDials = 16

// Dials says where a first lane to one of the addresses is tried: chosen candidates in their order, the others with reasons. Unless rails were chosen
// the system picks where a lane leaves; so it does towards this host, if none of the chosen ones leads there.
//
// Errors: *NoRailError; or one that says for each address why none of the rails will do.
func Dials(v View, addrs []string) (all []Candidate, err error) {
	chosen := 0
	for _, addr := range addrs {
		here := v.Here(addr)
		use := v.usable(here)
		if !v.Chosen.positive && !v.simulated() {
			use = v.notLeftOut()
		}
		var ways, far []Candidate
		for i := range use {
			c := &use[i]
			w := v.judge(c, addr, here)
			x := Candidate{Path{c.Host(), addr}, c.String(), c.Speed, w.reason == "", w.way + w.reason} // one of the two is empty
			switch {
			case w.direct:
				ways = append(ways, x)
			case x.Chosen:
				far = append(far, x)
			default:
				all = append(all, x)
			}
		}
		ways = append(ways, far...)
		if len(ways) == 0 && (v.Chosen.Any() || here || len(v.Rails) == 0) {
			ways = []Candidate{v.anyWay(addr)}
		}
		for i := range ways {
			w := &ways[i]
			if w.Chosen && chosen == mostDials {
				w.Chosen, w.Reason = false, "others are tried before"
			}
			if w.Chosen {
				chosen++
			}
		}
		all = append(all, ways...)
	}
	if chosen > 0 {
		return all, nil
	}
	if err := v.none(false); err != nil {
		return all, err
	}
	return all, &WayError{all}
}

// notLeftOut are the rails from which a first lane may go if others were left out: to whoever dials an address that a tunnel leads to, a tunnel is a
// rail. If nothing was left out the system picks.
func (v View) notLeftOut() (use []Choice) {
	if v.Chosen.Any() {
		return nil
	}
	for _, c := range v.choices() {
		if c.Reason == "" && c.state() == "" {
			use = append(use, c)
		}
	}
	return use
}

// anyWay leaves it to the system where a lane leaves.
func (v View) anyWay(addr string) Candidate {
	c := Candidate{Path: Path{Remote: addr}, Chosen: true, Reason: "the system picks where it leaves"}
	if a, ok := ipOf(addr); ok && a.IsLinkLocalUnicast() && a.Is6() && a.Zone() == "" {
		c.Chosen, c.Reason = false, "a link-local address needs its interface, as in [fe80::1%eth0]:7777"
	}
	return c
}

// WayError says why no lane can be begun.
type WayError struct{ Ways []Candidate }

func (e *WayError) Error() string {
	s := "no way"
	for _, c := range e.Ways {
		rail := c.Rail
		if rail == "" {
			rail = c.Remote
		}
		s += fmt.Sprintf("; %s: %s", rail, c.Reason)
	}
	return s
}

// Is says that it is ErrRails, too.
func (e *WayError) Is(target error) bool { return target == ErrRails }
