package verbsrc

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// NewSeen is New, which shows each adapter that is opened.
func NewSeen(o Options, seen func(rdma.Device)) transport.Transport {
	o.RC.Open = func(at rc.Place) (rdma.Device, error) {
		d, err := o.open(at)
		if err == nil {
			seen(d)
		}
		return d, err
	}
	o.RC.OpenMail = o.mail
	return rc.New(o.RC)
}
