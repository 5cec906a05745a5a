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

// Paths pairs the rails here with the addresses at which the peer listens. first is the path that
// stands already; it comes first. Rail i goes to address i; where one side has fewer,
// its addresses are used again. At most limit paths (0: no limit); with want > 0, paths are
// used again until there are want of them.
func Paths(first Path, rails, remotes []string, limit, want int) []Path {
	paths := []Path{first}
	add := func(p Path) {
		for _, o := range paths {
			if o == p {
				return
			}
		}
		if (limit == 0 || len(paths) < limit) && Joins(p.Local, p.Remote) && sameWorld(first.Remote, p.Remote) {
			paths = append(paths, p)
		}
	}
	for i := range max(len(rails), len(remotes)) {
		p := first
		if len(remotes) > 0 {
			p.Remote = remotes[i%len(remotes)]
		}
		if len(rails) > 0 {
			p.Local = HostOf(rails[i%len(rails)])
		}
		if len(rails) == 0 {
			p.Local = ""
		}
		add(p)
	}
	for i, n := 0, len(paths); len(paths) < want && (limit == 0 || len(paths) < limit); i++ {
		paths = append(paths, paths[i%n])
	}
	return paths
}

// HostOf is the host of "host:port", or the whole if there is no port.
func HostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}

// Joins says whether a connection from the local address to the remote one makes sense. Addresses that are no
// literal IP (a simulated host) always do.
func Joins(local, remote string) bool {
	if local == "" {
		return true
	}
	l, errL := netip.ParseAddr(local)
	r, errR := netip.ParseAddr(HostOf(remote))
	if errL != nil || errR != nil {
		return true
	}
	return l.Is4() == r.Is4() && l.IsLoopback() == r.IsLoopback()
}

// sameWorld keeps a loopback address from being used towards another host.
func sameWorld(first, remote string) bool {
	f, errF := netip.ParseAddr(HostOf(first))
	r, errR := netip.ParseAddr(HostOf(remote))
	return errF != nil || errR != nil || f.IsLoopback() == r.IsLoopback()
}
