package topo

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// ExcludedError is a listener's address that the chosen rails leave out.
type ExcludedError struct {
	Addr, Rail, Why string
	Instead         []string // hosts that may be listened on
}

func (e *ExcludedError) Error() string {
	s := fmt.Sprintf("%s is the address of %s, which is %s", e.Addr, e.Rail, e.Why)
	if len(e.Instead) > 0 {
		return fmt.Sprintf("%s: add %s to the rails, or listen on %s", s, e.Rail, e.Instead[0])
	}
	return s + ": choose other rails, or listen on another address"
}

// Is says that it is ErrRails, too.
func (e *ExcludedError) Is(target error) bool { return target == ErrRails }

// Bind says where else a listener listens that was asked to listen on addr ("host:port"): hosts without port. Who listens everywhere listens
// on all rails already; without rails that were chosen nobody listens elsewhere.
//
// Errors: *ExcludedError, *NoRailError.
func Bind(v View, addr string) (hosts []string, err error) {
	if err := v.none(true); err != nil {
		return nil, err
	}
	a, ok := ipOf(addr)
	if ok && a.IsUnspecified() {
		return nil, nil
	}
	if !v.Chosen.positive && !v.simulated() {
		return nil, v.excluded(a)
	}
	for _, c := range Usable(v) {
		if c.Reason == "" && c.Host() != HostOf(addr) && (c.how == byAddress || !c.Addr.IsLinkLocalUnicast()) {
			hosts = append(hosts, c.Host())
		}
	}
	if ok && !a.IsLoopback() {
		if e := v.excluded(a); e != nil {
			e.(*ExcludedError).Instead = hosts
			return nil, e
		}
	}
	return hosts, nil
}

// simulated says whether the rails are known by their names alone.
func (v View) simulated() bool { return len(v.Rails) > 0 && v.Rails[0].Name == "" }

// excluded is an *ExcludedError if the selection leaves the address out.
func (v View) excluded(a netip.Addr) error {
	if !a.IsValid() || v.Chosen.Any() {
		return nil
	}
	r, known := v.find(a.String())
	if !known {
		return nil // the system will say that nobody has it
	}
	if _, _, why := v.Chosen.of(r); why != "" {
		return &ExcludedError{Addr: a.String(), Rail: r.Name, Why: why}
	}
	return nil
}

// Told are the addresses at which a peer can dial further lanes, at most most of them: those that are bound, where "0.0.0.0:7" or "[::]:7" stands for all rails
// that are of use. local and remote are the ends of a connection with the peer: what is of no use to it is left out, and local comes first.
func Told(v View, bound []string, local, remote string, most int) (addrs []string) {
	at, _ := ipOf(local)
	from, isIP := ipOf(remote)
	near := isIP && v.owns(from) // on this host
	add := func(addr string) {
		if len(addrs) < most && !contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	if v.present(at) && (contains(bound, local) || v.within(bound, local)) {
		add(plain(local))
	}
	bound = slices.Clone(bound)
	slices.SortStableFunc(bound, func(a, b string) int { // if not all can be told, then each interface's of one family
		return cmp.Compare(otherFamily(a, at), otherFamily(b, at))
	})
	for _, b := range bound {
		a, ok := ipOf(b)
		switch {
		case !ok:
			add(b)
		case a.IsUnspecified() && near: // one lane to oneself is enough
		case a.IsUnspecified():
			for _, host := range v.everywhere(a, at) {
				_, port, _ := net.SplitHostPort(b)
				add(net.JoinHostPort(host, port))
			}
		case a.IsLoopback() == at.IsLoopback() && !a.IsLinkLocalUnicast() && v.present(a):
			add(b)
		}
	}
	return addrs
}

// Known are the addresses by which a listener is reached from wherever: as Told, while it isn't known who will dial. Those of the loopback interface are among them
// only if they were bound, or if there is no other.
func Known(v View, bound []string, most int) (addrs []string) {
	addrs = Told(v, bound, "", "", most)
	for _, b := range bound {
		if a, ok := ipOf(b); ok && a.IsLoopback() && len(addrs) < most {
			addrs = append(addrs, b)
		}
	}
	for _, b := range bound {
		if a, ok := ipOf(b); ok && a.IsUnspecified() && len(addrs) == 0 {
			_, port, _ := net.SplitHostPort(b)
			addrs = append(addrs, net.JoinHostPort("127.0.0.1", port))
		}
	}
	return addrs
}

// otherFamily is 1 for an address of the other family than at's, else 0.
func otherFamily(addr string, at netip.Addr) int {
	if a, ok := ipOf(addr); ok && at.IsValid() && a.Is4() != at.Is4() {
		return 1
	}
	return 0
}

// present says whether an address can be reached now, as far as is known.
func (v View) present(a netip.Addr) bool {
	if !a.IsValid() || a.IsLoopback() || len(v.Rails) == 0 {
		return true
	}
	r, known := v.find(a.String())
	return known && r.state() == ""
}

// within says whether a connection to an address came by a listener that listens everywhere.
func (v View) within(bound []string, local string) bool {
	_, port, _ := net.SplitHostPort(local)
	for _, b := range bound {
		if a, ok := ipOf(b); ok && a.IsUnspecified() {
			if _, p, _ := net.SplitHostPort(b); p == port {
				return true
			}
		}
	}
	return false
}

// plain is an address without this host's name for the interface.
func plain(addr string) string {
	if p, err := netip.ParseAddrPort(addr); err == nil {
		return netip.AddrPortFrom(p.Addr().Unmap().WithZone(""), p.Port()).String()
	}
	return addr
}

// everywhere are the addresses of the rails that are of use to others, for who listens on all of them: one of each network of an interface, and none that
// changes if there is one that stays. Each interface comes with one of the family of at, if it has one, before any comes with a second: the peer knows what
// of both families it shares, and has one lane on each wire all the same.
func (v View) everywhere(all, at netip.Addr) (hosts []string) {
	use := slices.DeleteFunc(v.usable(false), func(c Choice) bool { return c.Addr.IsLinkLocalUnicast() || all.Is4() && !c.Addr.Is4() })
	slices.SortStableFunc(use, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(otherFamily(a.Host(), at), otherFamily(b.Host(), at)), cmp.Compare(a.Traits&Temporary, b.Traits&Temporary))
	})
	first := map[string]bool{}    // interfaces that have come
	networks := map[string]bool{} // of an interface
	var further []string
	for _, c := range use {
		network := c.Name + " " + c.prefix().String()
		switch {
		case networks[network]:
			continue
		case first[c.Name]:
			further = append(further, c.Host())
		default:
			hosts = append(hosts, c.Host())
		}
		first[c.Name], networks[network] = true, true
	}
	return append(hosts, further...)
}
