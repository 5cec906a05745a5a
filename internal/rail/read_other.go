//go:build !linux

package rail

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/openbraid/braid/internal/topo"
)

// Read is the table of this host's rails: each address of each interface.
func Read() ([]topo.Rail, error) { return newReader().read() }

type reader struct{}

func newReader() *reader { return &reader{} }

func (*reader) read() (rails []topo.Rail, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("interfaces: %w", err)
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("addresses of %s: %w", i.Name, err)
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			r := topo.Rail{Name: i.Name, Index: i.Index, Addr: p.Addr().Unmap(), Bits: p.Bits(), Traits: traits(i.Flags)}
			if r.Addr.IsLinkLocalUnicast() && r.Addr.Is6() {
				r.Addr = r.Addr.WithZone(i.Name)
			}
			rails = append(rails, r)
		}
	}
	return rails, nil
}

func traits(f net.Flags) (t topo.Trait) {
	if f&net.FlagUp != 0 {
		t |= topo.Up
	}
	if f&net.FlagRunning != 0 {
		t |= topo.Carrier
	}
	if f&net.FlagLoopback != 0 {
		t |= topo.Loopback
	} else if f&net.FlagPointToPoint != 0 {
		t |= topo.Tunnel
	}
	return t
}

// Route is not known here.
func Route(_, _ netip.Addr) topo.Hop { return topo.Hop{} }
