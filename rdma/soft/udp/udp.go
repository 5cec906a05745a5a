package udp

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/openbraid/braid/rdma"
)

// Options are how a socket is opened. The zero value is what one wants.
type Options struct {
	// BufferBytes is asked for in either direction; the system grants what it allows. Default 4 MiB.
	BufferBytes int
	// NoSegment sends and takes each datagram by itself: for captures, and for networks that spoil what the kernel cuts.
	NoSegment bool
	// Sources is how many further sockets connections send from, so that networks of several paths see several flows. They receive nothing.
	Sources int
}

const defaultBuffer = 4 << 20

// link finds the interface of an address: how much it carries, its MAC, and its index.
func link(a netip.Addr) (bytes int, mac rdma.MAC, index int, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return 0, mac, 0, fmt.Errorf("udp: listing interfaces: %w", err)
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil || a.Zone() != "" && a.Zone() != i.Name {
			continue
		}
		if slices.ContainsFunc(addrs, func(x net.Addr) bool { return holds(x, i, a) }) {
			copy(mac[:], i.HardwareAddr)
			return i.MTU, mac, i.Index, nil
		}
	}
	return 0, mac, 0, fmt.Errorf("%w: no interface has the address %v", rdma.ErrInvalid, a)
}

// holds says whether an interface's address is a, or on loopback one of its network.
func holds(x net.Addr, i net.Interface, a netip.Addr) bool {
	n, ok := x.(*net.IPNet)
	if !ok {
		return false
	}
	ip := a.WithZone("").AsSlice()
	return n.IP.Equal(ip) || i.Flags&net.FlagLoopback != 0 && n.Contains(ip)
}
