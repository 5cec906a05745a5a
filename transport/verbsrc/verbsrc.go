package verbsrc

import (
	"fmt"
	"net/netip"

	"github.com/openbraid/braid/rdma"
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
	// Wrap puts something in front of each device, such as a counter of calls; nil: nothing.
	Wrap func(rdma.Device) rdma.Device
}

// New makes the transport. In a program without the code for adapters whatever is dialed or listened on ends with verbs.ErrNotBuilt.
func New(o Options) transport.Transport {
	o.RC.Open, o.RC.OpenMail, o.RC.Polled = o.open, mail, false
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
	if o.Wrap != nil {
		d = o.Wrap(d)
	}
	return d, nil
}

// mail opens the device for datagrams.
func mail(at rc.Place) (rdma.Device, error) {
	if at.Local.Port() == rdma.RoCEPort {
		return nil, fmt.Errorf("%v: that port is the adapter's; listen on another one", netip.AddrPortFrom(at.Local.Addr(), at.Local.Port()))
	}
	d, err := host.Open(host.Config{Local: at.Local, Now: at.Now})
	if err != nil {
		return nil, err
	}
	return d, nil
}
