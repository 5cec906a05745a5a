package softrc

import (
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/host"
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
	// Port is the UDP port of devices that dial; 0: any. Adapters reach port 4791 only, so who is to be reached by one takes that.
	Port uint16
	// Wrap puts something in front of each socket: carrier.WithFaults. Nil: nothing.
	Wrap func(carrier.Carrier, rc.Place) carrier.Carrier
}

// New makes the transport.
func New(o Options) transport.Transport {
	o.RC.Open, o.RC.Polled = o.open, false
	return rc.New(o.RC)
}

// open opens one device.
func (o Options) open(at rc.Place) (rdma.Device, error) {
	local := at.Local
	if !local.Addr().IsValid() {
		a, err := host.Towards(at.Remote)
		if err != nil {
			return nil, err
		}
		local = netip.AddrPortFrom(a, local.Port())
	}
	if at.Remote.IsValid() && local.Port() == 0 {
		local = netip.AddrPortFrom(local.Addr(), o.Port)
	}
	if o.Socket.Sources == 0 && !local.Addr().IsLoopback() {
		o.Socket.Sources = 4
	}
	c := host.Config{Local: local, Socket: o.Socket, Now: at.Now}
	if o.Wrap != nil {
		c.Wrap = func(s carrier.Carrier) carrier.Carrier { return o.Wrap(s, at) }
	}
	d, err := host.Open(c)
	if err != nil {
		return nil, err
	}
	return d, nil
}
