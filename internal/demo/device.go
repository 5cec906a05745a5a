package demo

import (
	"fmt"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/faulty"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
)

// overRC is what the lanes run over if not tcp.
const overRC = "rc"

// checkTransport says what can't be.
func checkTransport(name string, r rails) error {
	switch {
	case name != "" && name != "tcp" && name != overRC:
		return &UsageError{fmt.Sprintf("--transport %s: there are tcp and rc", name)}
	case name == overRC && !r.split():
		return &UsageError{fmt.Sprintf("--transport rc needs two addresses, as --rails 127.0.0.1,127.0.0.2: a device has one, and %s can't be cut twice", r.Addrs[0])}
	}
	return nil
}

// transport is what the sender's lanes run over, with the injector in front.
func (f *fence) transport(name string) transport.Transport {
	if name != overRC {
		return tcp.New(tcp.Options{Wrapper: f})
	}
	return softrc.New(softrc.Options{
		RC:   rc.Options{AllowSecret: true, TrustNetwork: true}, // both ends are of this host
		Wrap: func(c carrier.Carrier, at rc.Place) carrier.Carrier { return f.device(c, at) },
	})
}

// device puts the injector in front of a device's datagrams.
func (f *fence) device(c carrier.Carrier, at rc.Place) carrier.Carrier {
	local := c.Local()
	rail := 0
	if local.Addr().String() == f.rails.Addrs[1] {
		rail = 1
	}
	f.mu.Lock()
	f.places[local.String()] = rail
	f.mu.Unlock()
	return &fencedDevice{Carrier: faulty.New(c, f.inj, at.Now), f: f, rail: rail}
}

// fencedDevice is a carrier whose next large batch may be waited for to be cut.
type fencedDevice struct {
	carrier.Carrier
	f    *fence
	rail int
}

// Send implements carrier.Carrier.
func (d *fencedDevice) Send(batch []carrier.Out) int {
	if t := d.f.armed.Load(); t != nil && t.rail == d.rail {
		n := 0
		for _, o := range batch {
			n += len(o.Data)
		}
		if n >= t.least && d.f.armed.CompareAndSwap(t, nil) {
			half := len(batch) / 2 // the cut comes in the middle
			n := d.Carrier.Send(batch[:half])
			r := t.rule
			r.Start = fault.Now
			d.f.inj.Apply(r)
			defer t.fired()
			return n + d.Carrier.Send(batch[n:])
		}
	}
	return d.Carrier.Send(batch)
}
