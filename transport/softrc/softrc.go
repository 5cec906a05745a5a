package softrc

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/udp"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// Options of the transport. The zero value is fine, and stays on loopback.
type Options struct {
	// RC are the transport's own options. Its Open and Polled are set here.
	RC rc.Options
	// Socket is how the devices' sockets are opened. Sources 0 is none on loopback and 4 elsewhere; below 0 is none.
	Socket udp.Options
	// Wrap puts something in front of each socket: carrier.WithFaults. Nil: nothing.
	Wrap func(carrier.Carrier, rc.Place) carrier.Carrier
}

// New makes the transport.
func New(o Options) transport.Transport {
	o.RC.Open, o.RC.Polled = o.open, false
	return rc.New(o.RC)
}

// open opens one device. Numbers and keys come from a generator that nobody can guess.
func (o Options) open(at rc.Place) (rdma.Device, error) {
	local := at.Local
	if !local.Addr().IsValid() {
		a, err := towards(at.Remote)
		if err != nil {
			return nil, err
		}
		local = netip.AddrPortFrom(a, local.Port())
	}
	if o.Socket.Sources == 0 && !local.Addr().IsLoopback() {
		o.Socket.Sources = 4
	}
	c, err := udp.Open(local, o.Socket)
	if err != nil {
		return nil, err
	}
	if o.Wrap != nil {
		c = o.Wrap(c, at)
	}
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		_ = c.Close()
		return nil, err
	}
	d, err := soft.Open(soft.Config{Name: "soft", Carrier: c, Now: at.Now, Rand: rand.NewChaCha8(seed).Uint64})
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return d, nil
}

// towards is the local address from which the system reaches a remote one. No packet is sent.
func towards(remote netip.AddrPort) (netip.Addr, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(remote))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no way to %v: %w", remote, err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}
