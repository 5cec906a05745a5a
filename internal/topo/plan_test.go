package topo

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/*.txt: hosts by their tables, and what is planned there.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		h := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := h.run(d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

// script is one host. Its table has lines such as
//
//	eth0 10.0.0.5/24 speed=1000 down
//
// and its routes such as "10.9.0.0/16 by eth0 router": the first that fits; without any that fits there is no way.
type script struct {
	view   View
	routes []route
}

type route struct {
	from, to netip.Prefix
	rail     Rail
	router   bool
}

// inputs are a command's arguments.
type inputs struct {
	rails, told, dialed, standing, bound []string
	local, remote                        string
	want, most                           int
	spare                                bool
}

func (in *inputs) read(args []datadriven.CmdArg) error {
	for _, a := range args {
		switch a.Key {
		case "rails":
			in.rails = a.Vals
		case "told":
			in.told = a.Vals
		case "dialed":
			in.dialed = a.Vals
		case "standing":
			in.standing = a.Vals
		case "bound":
			in.bound = a.Vals
		case "local":
			in.local = a.Vals[0]
		case "remote":
			in.remote = a.Vals[0]
		case "want":
			in.want, _ = strconv.Atoi(a.Vals[0])
		case "most":
			in.most, _ = strconv.Atoi(a.Vals[0])
		case "spare":
			in.spare = true
		default:
			return fmt.Errorf("no argument %s", a.Key)
		}
	}
	return nil
}

func (h *script) run(d *datadriven.TestData) (_ string, err error) {
	var in inputs
	if err := in.read(d.CmdArgs); err != nil {
		return "", err
	}
	v := h.view
	if v.Chosen, err = Select(in.rails); err != nil {
		return "", err
	}
	switch d.Cmd {
	case "host":
		return h.table(d.Input)
	case "routes":
		return h.routing(d.Input)
	case "usable":
		return usable(v), nil
	case "dials":
		all, err := Dials(v, in.dialed)
		if err != nil {
			return "", err
		}
		return show(all), nil
	case "plan":
		q := Query{View: v, Dialed: in.dialed[0], Told: in.told, Most: in.most, Want: in.want, Spare: in.spare, Translated: Translated(in.dialed[0], in.told)}
		for _, s := range in.standing {
			local, remote, _ := strings.Cut(s, "->")
			q.Standing = append(q.Standing, Path{local, remote})
		}
		return show(Plan(q)), nil
	case "bind":
		hosts, err := Bind(v, in.bound[0])
		return fmt.Sprintln(hosts), err
	case "told":
		return fmt.Sprintln(Told(v, in.bound, in.local, in.remote, 8)), nil
	}
	return "", fmt.Errorf("no command %s", d.Cmd)
}

func usable(v View) string {
	var b strings.Builder
	for _, c := range Usable(v) {
		fmt.Fprintf(&b, "%s: %s\n", c, orOK(c.Reason))
	}
	if u := v.Unmatched(); len(u) > 0 {
		fmt.Fprintf(&b, "nothing matches %s\n", strings.Join(u, ", "))
	}
	return b.String()
}

func orOK(s string) string {
	if s == "" {
		return "usable"
	}
	return s
}

func show(all []Candidate) string {
	var b strings.Builder
	for _, c := range all {
		sign := "-"
		if c.Chosen {
			sign = "+"
		}
		remote := c.Remote
		if remote == "" {
			remote = "anywhere"
		}
		rail := c.Rail
		if c.Local == "" {
			rail = "any rail"
		}
		fmt.Fprintf(&b, "%s %s -> %s: %s\n", sign, rail, remote, c.Reason)
	}
	return b.String()
}

func (h *script) table(input string) (string, error) {
	h.view, h.routes = View{}, nil
	index := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line)
		if len(words) == 1 { // a simulated rail
			h.view.Rails = append(h.view.Rails, Fixed(words[0])...)
			continue
		}
		p, err := netip.ParsePrefix(words[1])
		if err != nil {
			return "", err
		}
		if index[words[0]] == 0 {
			index[words[0]] = len(index) + 1
		}
		r := Rail{Name: words[0], Index: index[words[0]], Addr: p.Addr(), Bits: p.Bits(), Traits: Ready}
		if r.Addr.IsLinkLocalUnicast() && r.Addr.Is6() {
			r.Addr = r.Addr.WithZone(r.Name)
		}
		for _, w := range words[2:] {
			if err := r.set(w); err != nil {
				return "", err
			}
		}
		h.view.Rails = append(h.view.Rails, r)
	}
	return "", nil
}

func (r *Rail) set(word string) error {
	if n, ok := strings.CutPrefix(word, "speed="); ok {
		r.Speed, _ = strconv.Atoi(n)
		return nil
	}
	switch word {
	case "down":
		r.Traits &^= Ready
	case "unplugged":
		r.Traits &^= Carrier
	case "loopback":
		r.Traits |= Loopback
	case "tunnel":
		r.Traits |= Tunnel
	case "hostonly":
		r.Traits |= HostOnly
	case "tentative":
		r.Traits |= Tentative
	case "deprecated":
		r.Traits |= Deprecated
	case "temporary":
		r.Traits |= Temporary
	default:
		return fmt.Errorf("no trait %s", word)
	}
	return nil
}

func (h *script) routing(input string) (string, error) {
	h.routes = nil
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		words := strings.Fields(line) // [from PREFIX] PREFIX by NAME [router]
		r := route{}
		if words[0] == "from" {
			r.from, words = netip.MustParsePrefix(words[1]), words[2:]
		}
		r.to = netip.MustParsePrefix(words[0])
		for _, x := range h.view.Rails {
			if x.Name == words[2] {
				r.rail = x
			}
		}
		r.router = len(words) > 3
		h.routes = append(h.routes, r)
	}
	h.view.Route = func(local, remote netip.Addr) Hop {
		for _, r := range h.routes {
			if r.to.Contains(remote.WithZone("")) && (!r.from.IsValid() || r.from.Contains(local.WithZone(""))) {
				return Hop{Known: true, Index: r.rail.Index, Name: r.rail.Name, Direct: !r.router}
			}
		}
		return Hop{Known: true, None: true}
	}
	return "", nil
}
