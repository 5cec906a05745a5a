package rc

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// chunkLen is the size of the memory that frames are encoded into.
	chunkLen = 64 << 10
	// maxControl is how much control frames may wait; a single larger one is taken too. There is one for each message that is
	// refused, and a turn may bring ten thousands.
	maxControl = 16 << 20
)

// outbox is what has been posted and is in no work request yet.
//
//	control, data:  |run|run|run|    a run is a few whole frames in the chunk, which make one segment,
//	                                  or one frame too large for that in memory of its own, which makes several
type outbox struct {
	control, data fifo
	asking        bool // the peer is to acknowledge what it has

	chunk *queue.Block // frames are encoded into it
	fill  int
	last  uint64 // number of the last data frame that is in it
	any   bool   // there is one

	sent  uint64 // data frames that are in work requests as a whole
	letGo uint64 // data frames whose memory was let go, without retention
}

// run is bytes that wait.
type run struct {
	b      *queue.Block // held by the run
	at, to int          // what waits of it
	whole  bool         // whole frames; else one frame, in parts
	begun  bool         // a part of it is under way
	frame  uint64       // number of the last data frame in it
}

// fifo is a list of runs, first in first out.
type fifo struct {
	runs  []run
	head  int
	bytes int
}

func (q *fifo) empty() bool { return q.head == len(q.runs) }
func (q *fifo) first() *run { return &q.runs[q.head] }

func (q *fifo) push(r run) {
	r.b.Retain()
	q.bytes += r.to - r.at
	q.runs = append(q.runs, r)
}

// last is the run that may still grow, nil if there is none.
func (q *fifo) last() *run {
	if q.empty() {
		return nil
	}
	return &q.runs[len(q.runs)-1]
}

func (q *fifo) pop() {
	q.first().b.Release()
	*q.first() = run{}
	if q.head++; q.head == len(q.runs) {
		q.runs, q.head = q.runs[:0], 0
	} else if q.head > 64 && q.head > len(q.runs)/2 {
		k := copy(q.runs, q.runs[q.head:])
		clear(q.runs[k:])
		q.runs, q.head = q.runs[:k], 0
	}
}

func (q *fifo) drop() {
	for !q.empty() {
		q.pop()
	}
	*q = fifo{}
}

// put encodes a frame. Its head and payload in the block are returned: they are what a purge hands out.
func (o *outbox) put(ep *endpoint, f *transport.Frame, e *ledger.Entry, n uint64) error {
	size := wire.HeaderLen + f.Len()
	whole := size <= ep.largest || ep.largest == 0 && size <= narrowFrame
	b, at, err := o.memory(ep, size, whole)
	if err != nil {
		return err
	}
	h := wire.Header{Size: uint32(f.Len()), ID: f.ID, Head: uint16(len(f.Head))}
	q := &o.control
	if f.Class == transport.Control {
		h.Flags = wire.FlagControl
	} else {
		q = &o.data
	}
	if f.AckNow {
		h.Flags |= wire.FlagAckNow
	}
	raw := b.Bytes[at : at+size]
	h.Emit(raw)
	head := raw[wire.HeaderLen:][:copy(raw[wire.HeaderLen:], f.Head)]
	payload := raw[wire.HeaderLen+len(head):]
	copy(payload, f.Payload)
	if e != nil {
		e.Head, e.Payload = head, payload
	}
	if last := q.last(); whole && last != nil && last.whole && last.b == b && last.to == at && last.to-last.at+size <= ep.largest {
		last.to, last.frame = last.to+size, n
		q.bytes += size
	} else {
		q.push(run{b: b, at: at, to: at + size, whole: whole, frame: n})
	}
	switch {
	case !whole && e != nil:
		e.Mem = b.Buffer
	case !whole:
		b.Release() // the run holds it
	case e != nil:
		o.last, o.any = n, true
	}
	return nil
}

// narrowFrame is what a segment of any peer carries: more is not posted before its own limit is known.
const narrowFrame = 8<<10 - wire.SegmentLen

// memory is where a frame goes: the chunk, or for one that is too large a block of its own, held by the caller.
func (o *outbox) memory(ep *endpoint, size int, whole bool) (*queue.Block, int, error) {
	if !whole {
		b, err := ep.p.mem.Get(size)
		return b, 0, err
	}
	if o.chunk != nil && o.fill+size > chunkLen {
		o.handOver(&ep.led)
	}
	if o.chunk == nil {
		b, err := ep.p.mem.Get(chunkLen)
		if err != nil {
			return nil, 0, err
		}
		o.chunk, o.fill, o.any = b, 0, false
	}
	at := o.fill
	o.fill += size
	return o.chunk, at, nil
}

// handOver gives the full chunk to the last data frame in it, with which it ends: frames end in order.
func (o *outbox) handOver(led *ledger.Ledger) {
	b := o.chunk
	o.chunk = nil
	if o.any && o.last >= led.Acked() {
		if e := led.At(o.last); !e.Released {
			e.Mem = b.Buffer
			return
		}
	}
	b.Release()
}

// letGoOfChunk: no frame is in it that has not ended. Work requests may still hold it.
func (o *outbox) letGoOfChunk() {
	if o.chunk != nil {
		o.chunk.Release()
		o.chunk = nil
	}
}

// drop forgets what waits. The chunk stays: frames in it may be handed out yet.
func (o *outbox) drop() {
	o.control.drop()
	o.data.drop()
	o.asking = false
}
