package outbox

import (
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// replay is a frame that a lost lane handed back. It is the Completer of its next life, in front of its
// first one, so that the end of a whole hand-over is seen.
type replay struct {
	frame transport.Frame // with Head, and Payload unless zero-copy, in memory of its own
	of    *Handover
	done  transport.Completer
	tag   uint64

	at    *seat // where it is in the book; nil: it is no operation's
	epoch uint64
}

// Handover is what became of the operations of one lost lane.
type Handover struct {
	Settled  func() // called once: everything that was on the lane is executed, or ended
	Replayed uint64 // bytes posted again
	left     int    // frames handed back and not executed
	purged   bool
	box      *Box
}

// over says that nothing of the lane is left.
func (h *Handover) over() bool { return h.purged && h.left == 0 }

// Sent implements transport.Completer.
func (r *replay) Sent(uint64) { r.done.Sent(r.tag) }

// Executed implements transport.Completer.
func (r *replay) Executed(_ uint64, err error) {
	r.of.left--
	if r.at != nil {
		r.move(&r.at.b.off) // that is where its first life ends
	}
	r.done.Executed(r.tag, err)
	r.of.settle()
}

// move takes it to another place of the book.
func (r *replay) move(to *seat) {
	if r.at != to {
		to.place.Enter(r.epoch)
		r.at.place.Leave(r.epoch)
		r.at = to
	}
}

// settle announces a hand-over once nothing is left of it.
func (h *Handover) settle() {
	if !h.over() {
		return
	}
	if settled := h.Settled; settled != nil {
		h.Settled = nil
		settled()
	}
	h.box.checkPartial()
}

// replays are in the order of their posting. What was lost later was posted earlier than what still waits for its first replay, or is of another lane and
// has no order with it: it goes in front.
type replays = order.List[*replay]

// TakeBack ends the books of a lost lane with the peer's position: what the peer has is executed, and the rest
// gets a new life, in front of everything that waits.
//
// Errors: those of PurgeOutstanding: R16.
func (b *Box) TakeBack(l *lane.Lane, position uint64, h *Handover) error {
	var inOrder, unordered, other, dropped replays
	s := b.of(l)
	h.box = b
	if s != nil {
		s.hand = h
	}
	_, err := l.Tep.PurgeOutstanding(position, func(f *transport.Frame) error {
		if wire.InOrder(f.ID) {
			b.orderedLeft()
		}
		r := b.handBack(f, s)
		if canceled(f) {
			dropped.Push(r)
			return nil
		}
		r.of = h
		r.frame.Head = append([]byte(nil), f.Head...)
		if !f.ZeroCopy {
			r.frame.Payload = append([]byte(nil), f.Payload...)
		}
		r.frame.Done, r.frame.Tag = r, 0
		h.left++
		switch {
		case r.at == nil:
			other.Push(r)
		case wire.InOrder(f.ID):
			inOrder.Push(r)
		default:
			unordered.Push(r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s != nil {
		b.vacate(s)
	}
	b.replayOrdered.Prepend(&inOrder) // R13
	b.replayAny.Prepend(&unordered)
	b.replayOther.Prepend(&other)
	for dropped.Len() > 0 { // not before the others stand in their queues: a flush may look for them
		b.drop(dropped.Pop())
	}
	h.purged = true
	h.settle()
	b.host.Wake()
	return nil
}

// handBack makes a replay of a frame that was on the lane s: in the book it is on no lane now, with its epoch as before.
func (b *Box) handBack(f *transport.Frame, s *seat) *replay {
	r := &replay{frame: *f, done: f.Done, at: s}
	switch d := f.Done.(type) {
	case *amDone:
		r.epoch, r.done, r.tag = f.Tag, (*amDone)(&b.off), f.Tag
	case *putDone:
		r.epoch, r.done, r.tag = f.Tag, (*putDone)(&b.off), f.Tag
	case *request.Frames:
		r.epoch, r.tag = d.Epoch, b.off.id
	case *replay:
		if d.at == nil {
			r.at = nil
			return r
		}
		d.at, r.epoch = &b.off, d.epoch
	default:
		r.at, r.tag = nil, f.Tag
		return r
	}
	r.move(&b.off)
	return r
}

// requestOf is the request that a completer leads to, or nil.
func requestOf(c transport.Completer) *request.Request {
	for {
		switch d := c.(type) {
		case *replay:
			c = d.done
		case *request.Frames:
			return (*request.Request)(d)
		default:
			return nil
		}
	}
}

// canceled says whether a frame that the peer is known not to have is a canceled operation's only one: R15.
func canceled(f *transport.Frame) bool {
	r := requestOf(f.Done)
	return r != nil && !r.Reads() && r.Canceled && r.Whole && r.Frames == 1 && int(r.Posted) == len(f.Payload)
}

// drop ends such an operation, and then what waits for it on each lane that it was lost on.
func (b *Box) drop(p *replay) {
	r := requestOf(p.done)
	b.gets.drop(r)
	r.Frames, r.Borrowed, r.Begun = 0, 0, false
	r.Err = b.fail(r.Name(), outcome.NotExecuted, outcome.ErrCanceled)
	b.finish(r)
	b.retire(&b.off, p.epoch)
	for old, ok := p.done.(*replay); ok; old, ok = old.done.(*replay) {
		old.of.left--
		old.of.settle()
	}
}

// postReplays posts frames of q, in order, until there is no room.
func (b *Box) postReplays(q *replays) (n int) {
	inOrder := q == &b.replayOrdered
	for q.Len() > 0 {
		r := q.All()[0]
		if r.mustFollow() {
			return n // an acknowledgement will wake us
		}
		barrier := uint64(0)
		if r.at != nil && r.frame.ID != wire.IDAMPart {
			barrier = b.book.BarrierOf(r.epoch)
		}
		l := b.laneFor(inOrder, barrier, r.frame.Len())
		if l == nil {
			return n
		}
		b.scratch.Frame = r.frame
		b.scratch.Frame.AckNow = q.Len() == 1 || q.All()[1].frame.ID == wire.IDPutSignal
		s := l.Tep.Post(&b.scratch.Frame)
		if s != transport.Done && s != transport.Pending {
			return n
		}
		q.Pop()
		if r.at != nil {
			r.move(l)
			for _, region := range wire.Changes(r.frame.ID, r.frame.Head) {
				l.touch(region, r.epoch)
			}
		}
		if inOrder {
			b.ordered.Enter()
		}
		size := uint64(r.frame.Len())
		r.of.Replayed += size
		b.ReplayedFrames++
		b.ReplayedBytes += size
		if s == transport.Done {
			if r.frame.ZeroCopy {
				r.Sent(0) // this lane copied it
			}
			r.frame.Head, r.frame.Payload = nil, nil
		}
		n++
	}
	if n > 0 {
		b.host.Posted()
	}
	return n
}

// dropReplays ends what waits for a new life that won't come.
func (b *Box) dropReplays(err error) {
	for _, q := range []*replays{&b.replayOrdered, &b.replayAny, &b.replayOther} {
		for q.Len() > 0 {
			r := q.Pop()
			if wire.InOrder(r.frame.ID) {
				b.ordered.Enter() // the end of a frame takes it off again
			}
			r.Executed(0, err)
		}
	}
}
