package topo

import (
	"net"
	"net/netip"
)

// Path is where one lane runs.
type Path struct {
	Local  string // address without port, or "" for whatever the system picks
	Remote string // host:port
}

func (p Path) String() string {
	if p.Local == "" {
		return p.Remote
	}
	return p.Local + "->" + p.Remote
}

// HostOf is the host of "host:port", or the whole if there is no port.
func HostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// ipOf is the address in "host:port" or "host". A simulated host has none.
func ipOf(addr string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(HostOf(addr))
	return a.Unmap(), err == nil
}

// kind is what of an address an interface mostly has one of.
type kind uint8

const (
	noIP kind = iota // a simulated one
	ip4
	ip6
	linkLocal
)

func kindOf(addr string) kind {
	switch a, ok := ipOf(addr); {
	case !ok:
		return noIP
	case a.Is4():
		return ip4
	case a.IsLinkLocalUnicast():
		return linkLocal
	}
	return ip6
}

// same says whether two texts are one address and port. A zone is one side's own name for an interface, so it does not count.
func same(a, b string) bool {
	if a == b {
		return true
	}
	p, errP := netip.ParseAddrPort(a)
	q, errQ := netip.ParseAddrPort(b)
	return errP == nil && errQ == nil && p.Port() == q.Port() && p.Addr().Unmap().WithZone("") == q.Addr().Unmap().WithZone("")
}

func contains(addrs []string, addr string) bool {
	for _, a := range addrs {
		if same(a, addr) {
			return true
		}
	}
	return false
}

// Translated says whether a peer that was dialed at an address knows itself by others only: somebody in between translates, and what it
// tells need not lead to it.
func Translated(dialed string, told []string) bool { return len(told) > 0 && !contains(told, dialed) }

// Dialable are those of the addresses that a peer has told at which somebody else than this host may be: literal, of one host, with a port. The system takes
// what is not specified for this host itself. In a simulated network hosts have names; they count only if the peer was dialed by one.
func Dialable(dialed string, told []string) (addrs []string) {
	_, err := netip.ParseAddrPort(dialed)
	literal := err == nil
	for _, s := range told {
		a, err := netip.ParseAddrPort(s)
		if err != nil {
			host, port, err := net.SplitHostPort(s)
			if !literal && err == nil && host != "" && port != "" {
				addrs = append(addrs, s)
			}
			continue
		}
		if ip := a.Addr().Unmap(); a.Port() != 0 && !ip.IsUnspecified() && !ip.IsMulticast() && !reserved(ip) {
			addrs = append(addrs, s)
		}
	}
	return addrs
}

// reserved: 0.0.0.0/8 is "this network", and from 240.0.0.0 on is nobody's, or everybody's.
func reserved(ip netip.Addr) bool { return ip.Is4() && (ip.As4()[0] == 0 || ip.As4()[0] >= 240) }

// SameAddrs says whether two lists name the same addresses, in whatever order.
func SameAddrs(a, b []string) bool {
	for _, x := range a {
		if !contains(b, x) {
			return false
		}
	}
	for _, x := range b {
		if !contains(a, x) {
			return false
		}
	}
	return true
}

// SameHost says whether two texts, with or without a port, mean one host. Zones do not count.
func SameHost(a, b string) bool {
	p, okP := ipOf(a)
	q, okQ := ipOf(b)
	if okP && okQ {
		return p.WithZone("") == q.WithZone("")
	}
	return HostOf(a) == HostOf(b)
}
