package soft

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
)

// cq is a completion queue.
type cq struct {
	d       *Device
	ring    []entry
	head    int
	count   int
	users   int // queue pairs; one that uses it for both counts twice
	overrun bool
	gone    bool
}

// entry is a completion, and what polling it frees.
type entry struct {
	wc   rdma.WC
	qp   *queuePair // whose send ring; nil for receives
	end  uint16     // its blocks before this index are free
	life uint32     // of the ring: a RESET has freed everything
}

// CreateCQ implements rdma.Device.
func (d *Device) CreateCQ(depth int) (rdma.CQ, error) {
	if d.closed {
		return nil, rdma.ErrClosed
	}
	if depth < 1 || depth > maxCQE {
		return nil, fmt.Errorf("%w: a completion queue of %d, must be 1 to %d", rdma.ErrInvalid, depth, maxCQE)
	}
	return &cq{d: d, ring: make([]entry, depth)}, nil
}

func (c *cq) Depth() int { return len(c.ring) }

func (c *cq) Poll(dst []rdma.WC) int {
	n := 0
	for ; n < len(dst) && c.count > 0; n++ {
		e := &c.ring[c.head]
		dst[n] = e.wc
		if e.qp != nil && e.qp.req.life == e.life {
			e.qp.req.ring.Freed = e.end
		}
		e.qp = nil
		if c.head++; c.head == len(c.ring) {
			c.head = 0
		}
		c.count--
	}
	return n
}

// Arm says whether there is nothing to poll. There is nothing to remember: the device's descriptor becomes readable with
// each datagram, and completions come of datagrams and timers only.
func (c *cq) Arm(bool) bool { return c.count == 0 }

func (c *cq) Destroy() error {
	if c.users > 0 {
		return fmt.Errorf("%w: queue pairs use the completion queue", rdma.ErrBusy)
	}
	c.gone = true
	return nil
}

// errOverrun: what would complete there would be lost in silence.
var errOverrun = fmt.Errorf("%w: the completion queue has lost a completion, and takes no more", rdma.ErrInvalid)

// push adds a completion. The first that doesn't fit ends the queue pairs on it.
func (c *cq) push(e entry) {
	if c.overrun {
		return
	}
	if c.count == len(c.ring) {
		c.overrun = true
		c.d.event(rdma.Event{Type: rdma.EventCQOverrun, CQ: c})
		for _, q := range c.d.all {
			if q.scq == c || q.rcq == c {
				q.fail(rdma.CQOverrun)
			}
		}
		return
	}
	at := c.head + c.count
	if at >= len(c.ring) {
		at -= len(c.ring)
	}
	c.ring[at] = e
	c.count++
}
