package topo

import (
	"fmt"
	"net/netip"
)

// verdict is what is to be said about a pair of a rail here and an address there.
type verdict struct {
	direct bool   // no router is between
	way    string // how it gets there
	reason string // why no lane can run there; "" if one can
}

func yes(way string, direct bool) verdict { return verdict{direct: direct, way: way} }

func no(format string, args ...any) verdict { return verdict{reason: fmt.Sprintf(format, args...)} }

// Here says whether who has an address is on this host.
func (v View) Here(dialed string) bool {
	a, ok := ipOf(dialed)
	return ok && v.owns(a)
}

// judge says whether a lane can run from a rail to an address. here: the peer is on this host.
func (v View) judge(c *Choice, remote string, here bool) verdict {
	to, ok := ipOf(remote)
	switch {
	case c.Host() == "":
		return yes("the system picks where it leaves", true)
	case ok != c.Addr.IsValid():
		return no("addresses of different kinds")
	case !ok:
		return yes("on one network", true) // a simulated one
	}
	switch {
	case to.Is4() != c.Addr.Is4():
		return no("IPv4 and IPv6 don't meet")
	case to.IsLoopback() && !c.has(Loopback):
		return no("the loopback address is reached from a loopback address only")
	case !to.IsLoopback() && c.has(Loopback):
		return no("%s leads to this host only", c.Name)
	case c.Addr.IsLinkLocalUnicast() && !to.IsLinkLocalUnicast():
		return no("a link-local address leads to link-local ones only")
	case here:
		return yes("the peer is on this host", true)
	case v.owns(to):
		return no("this host has that address too: there it is another one")
	case to.IsLinkLocalUnicast() && to.Zone() == "":
		return no("link-local, and the interface that leads to it is not known")
	case to.IsLinkLocalUnicast() && !inZone(to.Zone(), c.Rail):
		return no("that address is on %s", to.Zone())
	}
	return v.onTheWay(c, to)
}

// onTheWay asks the system where packets would go.
func (v View) onTheWay(c *Choice, to netip.Addr) verdict {
	hop := Hop{}
	if v.Route != nil && c.Name != "" {
		hop = v.Route(c.Addr, to)
	}
	if !hop.Known {
		hop.Direct, hop.Index = c.prefix().Contains(to.WithZone("")), c.Index
	}
	switch {
	case hop.None:
		return no("no route from there to it")
	case hop.Index == c.Index && hop.Direct:
		return yes("on one network", true)
	case hop.Index == c.Index:
		return yes("by a router", false)
	case c.how >= byName && (c.prefix().Contains(to.WithZone("")) || c.Bits == c.Addr.BitLen()):
		return yes("asked for, though what goes there leaves by "+hop.Name, false)
	}
	if net := c.prefix(); !net.Contains(to.WithZone("")) && !net.IsSingleIP() {
		return no("what goes from %s to there leaves by %s: it takes an address of the peer on %s's own network (%s), or a routing rule for %s (ip rule)",
			c.Addr, hop.Name, c.Name, net.Masked(), c.Name)
	}
	return no("what goes from %s to there leaves by %s: give %s a routing rule of its own (ip rule)", c.Addr, hop.Name, c.Name)
}
