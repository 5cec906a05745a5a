package faulty

import (
	"fmt"
	"slices"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma"
)

// Device is a device with a link in front of it. It has one owner, as the device has.
type Device struct {
	rdma.Device
	link *fault.Link
	held fault.Held // as of the last look
	qps  []*queuePair
	cqs  []*completionQueue
	said []rdma.Event // of the port
}

// New puts a link in front of a device. Close closes it.
func New(d rdma.Device, l *fault.Link) *Device { return &Device{Device: d, link: l} }

// Link is what stands in front: for who sends datagrams beside the device.
func (d *Device) Link() *fault.Link { return d.link }

// Crossings is how often the device below called C; 0 if it doesn't say.
func (d *Device) Crossings() uint64 {
	if c, ok := d.Device.(interface{ Crossings() uint64 }); ok {
		return c.Crossings()
	}
	return 0
}

// look asks what is done to the device now.
func (d *Device) look() fault.Held {
	was := d.held.Reset
	if d.held = d.link.Held(); d.held.Reset != was {
		e := rdma.Event{Type: rdma.EventPortActive}
		if d.held.Reset {
			e.Type = rdma.EventPortDown
		}
		d.said = append(d.said, e)
	}
	return d.held
}

// Port implements rdma.Device: it is down while a reset is in force.
func (d *Device) Port() rdma.PortAttr {
	a := d.Device.Port()
	if d.look().Reset {
		a.State = rdma.PortDown
	}
	return a
}

// Progress implements rdma.Device. What was held back is handed on when that is over.
func (d *Device) Progress() int {
	n := d.Device.Progress()
	if d.look().Tx {
		return n
	}
	for _, q := range d.qps {
		n += q.release()
	}
	return n
}

// PollEvents implements rdma.Device.
func (d *Device) PollEvents(dst []rdma.Event) int {
	d.look()
	if k := copy(dst, d.said); k > 0 {
		d.said = d.said[:copy(d.said, d.said[k:])]
		return k
	}
	n := d.Device.PollEvents(dst)
	for i := range dst[:n] {
		e := &dst[i]
		for _, q := range d.qps {
			if q.QP == e.QP {
				e.QP = q
			}
		}
		for _, q := range d.cqs {
			if q.CQ == e.CQ {
				e.CQ = q
			}
		}
	}
	return n
}

// Close implements rdma.Device.
func (d *Device) Close() error {
	d.link.Close()
	d.qps, d.cqs = nil, nil
	return d.Device.Close()
}

// AllocPD implements rdma.Device.
func (d *Device) AllocPD() (rdma.PD, error) {
	p, err := d.Device.AllocPD()
	if err != nil {
		return nil, err
	}
	return &domain{PD: p, d: d}, nil
}

// CreateCQ implements rdma.Device.
func (d *Device) CreateCQ(depth int) (rdma.CQ, error) {
	c, err := d.Device.CreateCQ(depth)
	if err != nil {
		return nil, err
	}
	q := &completionQueue{CQ: c, d: d}
	d.cqs = append(d.cqs, q)
	return q, nil
}

type domain struct {
	rdma.PD
	d *Device
}

// CreateQP implements rdma.PD.
func (p *domain) CreateQP(a rdma.QPInit) (rdma.QP, error) {
	send, ok1 := a.SendCQ.(*completionQueue)
	recv, ok2 := a.RecvCQ.(*completionQueue)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("%w: a queue pair needs completion queues of its device", rdma.ErrInvalid)
	}
	a.SendCQ, a.RecvCQ = send.CQ, recv.CQ
	below, err := p.PD.CreateQP(a)
	if err != nil {
		return nil, err
	}
	q := &queuePair{QP: below, d: p.d, recv: recv}
	p.d.qps = append(p.d.qps, q)
	return q, nil
}

// forget takes a queue pair off the list.
func (d *Device) forget(q *queuePair) {
	d.qps = slices.DeleteFunc(d.qps, func(o *queuePair) bool { return o == q })
}

// byNumber is a queue pair by its number.
func (d *Device) byNumber(n uint32) *queuePair {
	for _, q := range d.qps {
		if q.Num() == n {
			return q
		}
	}
	return nil
}
