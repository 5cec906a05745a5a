package paths

import (
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/transport"
)

// mostNear ways within this host to one endpoint.
const mostNear = 4

// Near are those of a worker's interfaces, of which the first is that of the network, that lead to other processes of this host only.
func Near(ifaces []transport.Iface) (near []transport.Iface) {
	for _, i := range ifaces[1:] {
		if i.Attr().Here != "" {
			near = append(near, i)
		}
	}
	return near
}

// Here says whether a host, as who connects to one of the interfaces has it, is this one: all its clients have one address, or few.
func (g *Ground) Here(ifaces []transport.Iface, host string) bool {
	return g.View.Here(host) || slices.ContainsFunc(ifaces, func(i transport.Iface) bool {
		a := i.Attr()
		return (a.Local || a.Here != "") && a.Name == host
	})
}

// InOrder says whether all interfaces execute frames in the order of their posting: of an accepted connection it isn't known which it came from.
func InOrder(ifaces []transport.Iface) bool {
	return !slices.ContainsFunc(ifaces, func(i transport.Iface) bool { return !i.Attr().InOrder })
}

// Runs says whether a connection runs within this host, and how fast it is in Mbit/s; 0: that is not known.
func (g *Ground) Runs(tep transport.Endpoint) (near bool, speed int) {
	near = g.Within(tep.Local(), tep.Remote()) != nil
	if speed = g.Attr(tep).Speed; speed == 0 {
		speed = g.View.Speed(topo.HostOf(tep.Local()))
	}
	return near, speed
}

// Declares is what a frame takes on a connection besides its bytes, and from which payload on it sends without a copy.
func (g *Ground) Declares(tep transport.Endpoint) (frame time.Duration, zeroCopy int) {
	a := g.Attr(tep)
	return a.Frame, a.ZeroCopy
}

// Attr is that of the interface which a connection came from.
func (g *Ground) Attr(tep transport.Endpoint) transport.Attr {
	if i := g.Within(tep.Local(), tep.Remote()); i != nil {
		return i.Attr()
	}
	for _, i := range g.Ifaces {
		if a := i.Attr(); a.Local && topo.HostOf(tep.Local()) == a.Name {
			return a
		}
	}
	return g.Ifaces[0].Attr()
}

// Within says by which of the interfaces a connection with these ends runs within this host; nil: by none.
func (g *Ground) Within(local, remote string) transport.Iface {
	for _, i := range g.Near {
		if here := i.Attr().Here; strings.HasPrefix(topo.HostOf(local), here) || strings.HasPrefix(topo.HostOf(remote), here) {
			return i
		}
	}
	return nil
}

// hear takes out of what a peer has told where it is reached without a network, and returns the rest. Each such address names the host that it is
// of: this one, or nothing comes of it.
func (s *Set) hear(told []string) (rest []string) {
	var near []string
	for _, a := range told {
		switch i := s.g.Within("", a); {
		case i == nil:
			rest = append(rest, a)
		case len(near) < mostNear && !slices.Contains(near, a):
			near = append(near, a)
		}
	}
	if s.mayBeNear && s.g.Want != 1 && !s.g.View.NamesLoopback() { // who wants one lane has it; who named rails within this host wants those
		s.near = near
	}
	return rest
}

// openNear has a lane opened to each of those addresses, besides those over networks, and forgets what is not told any more.
func (s *Set) openNear() {
	s.all = slices.DeleteFunc(s.all, func(p *Path) bool {
		gone := p.near && !p.busy && !slices.Contains(s.near, p.Remote)
		if gone {
			s.g.Turns.Stop(p.redial)
		}
		return gone
	})
	for _, a := range s.near {
		if slices.ContainsFunc(s.all, func(p *Path) bool { return p.near && p.Remote == a }) || len(s.all) >= s.g.Most && s.g.Most > 0 {
			continue
		}
		p := &Path{Path: topo.Path{Remote: a}, Iface: s.g.Within("", a), Index: s.made, view: s.g.Views, near: true}
		s.made++
		s.all = append(s.all, p)
		s.host.Attempt(p)
	}
}
