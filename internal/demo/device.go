package demo

import (
	"fmt"
	"net/netip"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/faulty"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/tcp"
	"github.com/openbraid/braid/transport/verbsrc"
)

// What the lanes run over if not tcp: rc, over devices in software or adapters.
const (
	overRC    = "rc"
	overVerbs = "verbs"
)

// rdmaSettings have a child's settings say what its lanes run over.
func rdmaSettings(over string) [][2]string {
	return [][2]string{{"transports", over + ",self"}, {"rc-trust", "secret,network"}} // both ends are of this host
}

// checkTransport says what can't be.
func checkTransport(name string, r rails) error {
	switch {
	case name != "" && name != "tcp" && name != overRC && name != overVerbs:
		return &UsageError{fmt.Sprintf("--transport %s: there are tcp, rc and verbs", name)}
	case (name == overRC || name == overVerbs) && !r.split():
		return &UsageError{fmt.Sprintf("--transport %s needs two addresses, as --rails 127.0.0.1,127.0.0.2: a device has one, and %s can't be cut twice", name, r.Addrs[0])}
	case name == overVerbs:
		return r.adapters()
	}
	return nil
}

// adapters says which rail is not one of an adapter.
func (r *rails) adapters() error {
	for _, a := range r.Addrs {
		if _, err := verbs.Find(verbs.Config{Address: netip.MustParseAddr(a)}); err != nil {
			return fmt.Errorf("--transport verbs: rail %s: %w", a, err)
		}
	}
	return nil
}

// transport is what the sender's lanes run over, with the injector in front.
func (f *fence) transport(name string) transport.Transport {
	options := rc.Options{AllowSecret: true, TrustNetwork: true}
	switch name {
	case overVerbs:
		f.atOnce = true
		return verbsrc.New(verbsrc.Options{RC: options, Faults: f.inj, Mail: func(c carrier.Carrier, _ rc.Place) carrier.Carrier {
			f.place(c)
			return c
		}})
	case overRC:
	default:
		return tcp.New(tcp.Options{Wrapper: f})
	}
	return softrc.New(softrc.Options{
		RC:   options,
		Wrap: func(c carrier.Carrier, at rc.Place) carrier.Carrier { return f.device(c, at) },
	})
}

// device puts the injector in front of a device's datagrams.
func (f *fence) device(c carrier.Carrier, at rc.Place) carrier.Carrier {
	rail := f.place(c)
	return &fencedDevice{Carrier: faulty.New(c, f.inj, at.Now), f: f, rail: rail}
}

// place notes on which rail the lanes are whose address is that of a carrier.
func (f *fence) place(c carrier.Carrier) (rail int) {
	local := c.Local()
	if local.Addr().String() == f.rails.Addrs[1] {
		rail = 1
	}
	f.mu.Lock()
	f.places[local.String()] = rail
	f.mu.Unlock()
	return rail
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
