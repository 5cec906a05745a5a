package outbox

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// ChunkLen is the size of the memory that frames are encoded into: no segment is larger.
	ChunkLen = 64 << 10
	// narrow is what a segment of any peer carries: more is not posted before its own limit is known.
	narrow = wire.MinSegment - wire.SegmentLen
)

// Box is what has been posted. Memory and Books are set before it is used.
type Box struct {
	Memory *queue.Memory
	Books  *ledger.Ledger
	Keys   *window.Binder
	Owner  window.Owner // is told when a frame that waited for its key may leave
	// Largest is how many bytes a segment of this peer carries behind its header; 0: not known yet.
	Largest int
	// ReadFrom: the peer reads payloads of so many bytes or more; 0: none.
	ReadFrom int
	// Asking: the peer is to acknowledge what it has.
	Asking bool
	// Sent is how many data frames are in work requests as a whole.
	Sent uint64

	control, data fifo
	offers        []offer // that are under way and not acknowledged

	chunk *queue.Block // frames are encoded into it
	fill  int
	last  uint64 // number of the last data frame that is in it
	any   bool   // there is one
	letGo uint64 // data frames whose memory was let go, without retention
}

// Waiting is how many bytes of control and of data frames wait.
func (o *Box) Waiting() (control, data int) { return o.control.bytes, o.data.bytes }

// Empty says whether nothing waits.
func (o *Box) Empty() bool { return o.control.empty() && o.data.empty() }

// Put encodes a frame. A data frame is entry e of the books, number n: it gets its head and payload there, which is what a purge hands out.
func (o *Box) Put(f *transport.Frame, e *ledger.Entry, n uint64) error {
	size := wire.HeaderLen + f.Len()
	whole := size <= o.Largest || o.Largest == 0 && size <= narrow
	if !whole && e != nil && o.ReadFrom > 0 && len(f.Payload) >= o.ReadFrom {
		return o.offer(f, e, n)
	}
	b, at, err := o.memory(size, whole)
	if err != nil {
		return err
	}
	q := &o.data
	if f.Class == transport.Control {
		q = &o.control
	}
	head, payload := encode(b.Bytes[at:at+size], f)
	if e != nil {
		e.Head, e.Payload = head, payload
	}
	if last := q.last(); whole && last != nil && last.whole && last.b == b && last.to == at && last.to-last.at+size <= o.Largest {
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

// encode writes a frame, and says where its head and payload are.
func encode(raw []byte, f *transport.Frame) (head, payload []byte) {
	h := wire.Header{Size: uint32(f.Len()), ID: f.ID, Head: uint16(len(f.Head))}
	if f.Class == transport.Control {
		h.Flags = wire.FlagControl
	}
	if f.AckNow {
		h.Flags |= wire.FlagAckNow
	}
	h.Emit(raw)
	head = raw[wire.HeaderLen:][:copy(raw[wire.HeaderLen:], f.Head)]
	payload = raw[wire.HeaderLen+len(head):]
	copy(payload, f.Payload)
	return head, payload
}

// memory is where a frame goes: the chunk, or for one that is too large a block of its own, held by the caller.
func (o *Box) memory(size int, whole bool) (*queue.Block, int, error) {
	if !whole {
		b, err := o.Memory.Get(size)
		return b, 0, err
	}
	if o.chunk != nil && o.fill+size > ChunkLen {
		o.handOver()
	}
	if o.chunk == nil {
		b, err := o.Memory.Get(ChunkLen)
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
func (o *Box) handOver() {
	b := o.chunk
	o.chunk = nil
	if o.any && o.last >= o.Books.Acked() {
		if e := o.Books.At(o.last); !e.Released {
			e.Mem = b.Buffer
			return
		}
	}
	b.Release()
}

// Piece is what one segment carries: [At, To) of a block, which the box holds until Take.
type Piece struct {
	Kind   wire.Kind
	Flags  uint8 // of the segment
	Block  *queue.Block
	At, To int

	q *fifo
}

// Peek is the next piece; false: nothing waits, or what is next waits for its key.
func (o *Box) Peek() (p Piece, ok bool) {
	p.q = &o.control
	if p.q.empty() {
		if p.q = &o.data; p.q.empty() {
			return p, false
		}
	}
	r := p.q.first()
	if r.key != nil {
		return o.offerOf(p, r)
	}
	p.Kind, p.Block, p.At, p.To = wire.Frames, r.b, r.at, min(r.to, r.at+o.Largest)
	if !r.whole {
		if p.Kind = wire.More; !r.begun {
			p.Kind = wire.First
		}
		if p.q == &o.control {
			p.Flags = wire.SegControl
		}
	}
	return p, true
}

// Entering says that a piece is being entered in the books of work requests: what Sent is from now on.
func (o *Box) Entering(p *Piece) {
	r := p.q.first()
	at := p.To
	if p.Kind == wire.Offers {
		at = r.to
		o.offered(r)
	}
	p.q.bytes -= at - r.at
	r.at, r.begun = at, true
	if r.at == r.to && p.q == &o.data {
		o.Sent = r.frame + 1
	}
}

// Took lets go of a piece that a work request holds.
func (o *Box) Took(p *Piece) {
	if r := p.q.first(); r.at == r.to {
		p.q.pop()
	}
}

// Let lets go of the memory of frames before n, when nobody wants them back.
func (o *Box) Let(n uint64) {
	for o.letGo = max(o.letGo, o.Books.Acked()); o.letGo < n && !o.Books.Held(); {
		o.letGo++
		o.Books.Release(o.Books.At(o.letGo - 1))
	}
}

// Settle gives the chunk back when nobody has anything in it any more.
func (o *Box) Settle() {
	if o.Books.Len() == 0 && o.chunk != nil && !o.chunk.Shared() {
		o.LetGoOfChunk()
	}
}

// LetGoOfChunk: no frame is in it that has not ended. Work requests may still hold it.
func (o *Box) LetGoOfChunk() {
	if o.chunk != nil {
		o.chunk.Release()
		o.chunk = nil
	}
}

// Drop forgets what waits. The chunk stays: frames in it may be handed out yet.
func (o *Box) Drop() {
	o.withdraw()
	o.control.drop()
	o.data.drop()
	o.Asking = false
}
