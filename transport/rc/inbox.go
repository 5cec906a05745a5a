package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// gatherBelow: a segment that is smaller is copied into memory that it shares with others, so that who keeps a small
	// message doesn't keep a whole receive.
	gatherBelow = 2 << 10
	gatherLen   = 64 << 10
	// placeFrom: a data frame that lacks more than this is put where the sink wants it.
	placeFrom = 16 << 10
)

// inbox is what has arrived and is not taken yet.
type inbox struct {
	gather *transport.Buffer // small segments
	fill   int

	data, control assembly // frames that come in parts

	accepted, acceptedBytes uint64
	taking                  bool // the sink is taking a data frame right now
	takingSize              uint32
}

// assembly is a frame that is being put together.
type assembly struct {
	h       wire.Header
	mem     *transport.Buffer // its head, and its payload unless that is placed; nil: there is none
	payload []byte
	have    int  // of the payload
	placed  bool // payload is the sink's
}

// accept counts the frame that the sink has taken, or is answerable for: once.
func (in *inbox) accept() {
	if in.taking {
		in.accepted++
		in.acceptedBytes += uint64(in.takingSize)
		in.taking = false
	}
}

// hold is memory in which a segment's bytes can be kept.
func (in *inbox) hold(ep *endpoint, b *queue.Block, body []byte) ([]byte, *transport.Buffer) {
	if len(body) >= gatherBelow {
		return body, b.Buffer
	}
	if in.gather != nil && in.fill+len(body) > gatherLen {
		if in.gather.Shared() {
			in.gather.Release()
			in.gather = nil
		}
		in.fill = 0
	}
	if in.gather == nil {
		in.gather, in.fill = ep.f.pool.Get(gatherLen), 0
	}
	at := in.fill
	in.fill += len(body)
	return in.gather.Bytes[at:in.fill][:copy(in.gather.Bytes[at:in.fill], body)], in.gather
}

// abandon lets go of a frame that nobody takes any more.
func (a *assembly) abandon() {
	if a.mem != nil {
		a.mem.Release()
	}
	*a = assembly{}
}

// unplace goes on in memory of our own.
func (a *assembly) unplace() {
	if a.mem == nil || !a.placed {
		return
	}
	mem := make([]byte, len(a.payload))
	copy(mem, a.payload[:a.have])
	a.payload, a.placed = mem, false
}

func (in *inbox) drop() {
	in.data.abandon()
	in.control.abandon()
	if in.gather != nil {
		in.gather.Release()
		in.gather = nil
	}
}

// receiving is how many receives are posted at a time.
func (ep *endpoint) receiving() int { return len(ep.recvs) }

// receives posts so many more that there are total, if there are fewer.
func (ep *endpoint) receives(total int) error {
	for i := len(ep.recvs); i < total; i++ {
		b, err := ep.p.mem.Get(ep.f.o.SegmentBytes)
		if err != nil {
			return err
		}
		ep.recvs = append(ep.recvs, b)
		ep.spent = append(ep.spent, uint16(i))
	}
	ep.refill()
	return nil
}

// refill posts what was taken again. Only now the peer may use it: see flow.
func (ep *endpoint) refill() {
	wrs, sges := &ep.f.recvs.wrs, &ep.f.recvs.sges
	for len(ep.spent) > 0 {
		n := min(len(ep.spent), len(wrs))
		for i, at := range ep.spent[:n] {
			sges[i][0] = ep.recvs[at].SGE(0, ep.f.o.SegmentBytes)
			wrs[i] = rdma.RecvWR{ID: ep.id(at), SGL: sges[i][:]}
		}
		k, st := ep.qp.PostRecv(wrs[:n])
		ep.flow.posted += uint32(k)
		ep.spent = ep.spent[:copy(ep.spent, ep.spent[k:])]
		if k < n {
			ep.fail("receive", fmt.Errorf("the device took %d of %d receives: %v", k, n, st))
			return
		}
	}
}

// again has a receive posted again, in other memory if somebody keeps what is in it.
func (ep *endpoint) again(at uint16) {
	b := ep.recvs[at]
	if b.Shared() {
		fresh, err := ep.p.mem.Get(ep.f.o.SegmentBytes)
		if err != nil {
			ep.fail("receive", err)
			return
		}
		b.Release()
		ep.recvs[at] = fresh
	}
	ep.spent = append(ep.spent, at)
	ep.soil()
}
