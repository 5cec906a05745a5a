package verbsrc

import (
	"fmt"
	"net/netip"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/faulty"
	"github.com/openbraid/braid/rdma/soft/carrier"
	softfaulty "github.com/openbraid/braid/rdma/soft/faulty"
	"github.com/openbraid/braid/rdma/soft/host"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// Options of the transport. The zero value finds the port by the address, and needs RC.TrustNetwork: adapters have no loopback addresses.
type Options struct {
	// RC are the transport's own options. Its Open, OpenMail and Polled are set here; Timeout 0 is 14 (67 ms): adapters answer by themselves.
	RC rc.Options
	// Device is the only adapter to be used; "": whichever has the address.
	Device string
	// Faults are done to adapters and to the datagrams beside them (rdma/faulty); nil: nothing is.
	Faults *fault.Injector
	// Mail puts something in front of the datagrams by which connections are made, whose address is that of the lanes; nil: nothing.
	Mail func(carrier.Carrier, rc.Place) carrier.Carrier
}

// New makes the transport. In a program without the code for adapters whatever is dialed or listened on ends with verbs.ErrNotBuilt.
func New(o Options) transport.Transport {
	o.RC.Open, o.RC.OpenMail, o.RC.Polled = o.open, o.mail, false
	if o.RC.Timeout == 0 {
		o.RC.Timeout = 14
	}
	return rc.New(o.RC)
}

// open opens the port of an adapter that has the address.
func (o Options) open(at rc.Place) (rdma.Device, error) {
	local := at.Local.Addr()
	if !local.IsValid() {
		a, err := host.Towards(at.Remote)
		if err != nil {
			return nil, err
		}
		local = a
	}
	d, err := verbs.Open(verbs.Config{Name: o.Device, Address: local})
	if err != nil {
		return nil, err
	}
	if o.Faults != nil {
		return faulty.New(d, o.Faults.Adapter(local.String())), nil
	}
	return d, nil
}

// mail opens the device for datagrams, which suffer what the adapter does.
func (o Options) mail(at rc.Place, adapter rdma.Device) (rdma.Device, error) {
	if at.Local.Port() == rdma.RoCEPort {
		return nil, fmt.Errorf("%v: that port is the adapter's; listen on another one", netip.AddrPortFrom(at.Local.Addr(), at.Local.Port()))
	}
	d, err := host.Open(host.Config{Local: at.Local, Now: at.Now, Wrap: func(c carrier.Carrier) carrier.Carrier {
		if f, ok := adapter.(*faulty.Device); ok {
			c = softfaulty.Over(c, f.Link(), at.Now)
		}
		if o.Mail != nil {
			c = o.Mail(c, at)
		}
		return c
	}})
	if err != nil {
		return nil, err
	}
	return d, nil
}
