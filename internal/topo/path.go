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
