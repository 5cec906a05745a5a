package host

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/udp"
)

// Config of a device.
type Config struct {
	// Local is its address; port 0: any.
	Local netip.AddrPort
	// Socket is how its socket is opened.
	Socket udp.Options
	// Now is the clock that it goes by.
	Now func() time.Duration
	// Wrap puts something in front of the socket; nil: nothing.
	Wrap func(carrier.Carrier) carrier.Carrier
}

// Open opens one.
func Open(c Config) (*soft.Device, error) {
	s, err := udp.Open(c.Local, c.Socket)
	if err != nil {
		return nil, err
	}
	if c.Wrap != nil {
		s = c.Wrap(s)
	}
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		_ = s.Close()
		return nil, err
	}
	d, err := soft.Open(soft.Config{Name: "soft", Carrier: s, Now: c.Now, Rand: rand.NewChaCha8(seed).Uint64})
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return d, nil
}

// Towards is the local address from which the system reaches a remote one. No packet is sent.
func Towards(remote netip.AddrPort) (netip.Addr, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(remote))
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no way to %v: %w", remote, err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}
