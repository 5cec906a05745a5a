package outbox

import (
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// TakeBack ends the books of a lost lane with the peer's position: what the peer has is executed, and the rest
// gets a new life, in front of everything that waits.
//
// Errors: those of PurgeOutstanding: R16.
func (b *Box) TakeBack(l *lane.Lane, position uint64, h *replay.Handover) error {
	var inOrder, unordered, other replay.Queue
	var canceled []*request.Request
	s := b.of(l)
	h.Looks = b.checkPartial
	if s != nil {
		s.hand = h
	}
	_, err := l.Tep.PurgeOutstanding(position, func(f *transport.Frame) error {
		if wire.InOrder(f.ID) {
			b.orderedLeft()
		}
		r := b.handBack(f, s)
		if q := replay.Request(f.Done); q != nil && q.Canceled {
			canceled = append(canceled, q)
		}
		r.Wait(h)
		switch {
		case !r.Operates():
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
	for _, r := range canceled { // not before all stand in their queues: a flush may look for them
		if r.Canceled { // not ended yet, by an earlier frame of it
			b.unpost(r)
		}
	}
	h.Purged()
	b.host.Wake()
	return nil
}

// handBack makes a replay of a frame that was on the lane s: in the book it is on no lane now, with its epoch as before.
func (b *Box) handBack(f *transport.Frame, s *seat) *replay.Frame {
	e := replay.Entry{Epoch: f.Tag, Off: b.off.place}
	if s != nil {
		e.At = s.place
	}
	switch d := f.Done.(type) {
	case *amDone:
		return replay.Operation(f, e, (*amDone)(&b.off), f.Tag)
	case *putDone:
		return replay.Operation(f, e, (*putDone)(&b.off), f.Tag)
	case *request.Frames:
		e.Epoch = d.Epoch
		return replay.Operation(f, e, d, b.off.id)
	case *replay.Frame:
		return replay.Again(f, d)
	}
	return replay.Answer(f)
}

// unpost ends a canceled request of which all frames wait here, handed back by lanes, and says whether that is so: the peer has nothing of it (R15). One that its user
// was told is sent goes on: he may have taken that for a promise.
func (b *Box) unpost(r *request.Request) bool {
	of := func(p *replay.Frame) bool { return replay.Request(p) == r }
	if r.Reported && r.Err == nil || r.Reads() || !r.Whole || r.Over > 0 || r.Frames == 0 || b.replayOrdered.Count(of)+b.replayAny.Count(of) != int(r.Frames) {
		return false
	}
	frames := append(b.replayOrdered.Remove(of), b.replayAny.Remove(of)...)
	b.gets.drop(r)
	r.Frames, r.Borrowed, r.Begun = 0, 0, false
	r.Err = b.fail(r.Name(), outcome.NotExecuted, outcome.ErrCanceled)
	b.finish(r)
	for _, p := range frames {
		b.retire(&b.off, p.Epoch)
		p.Dropped()
	}
	b.host.Wake() // who stood behind it may go
	return true
}

// postReplays posts frames of q, in order, until there is no room.
func (b *Box) postReplays(q *replay.Queue) (n int) {
	inOrder := q == &b.replayOrdered
	for q.Len() > 0 {
		r := q.All()[0]
		if r.MustFollow() {
			return n // an acknowledgement will wake us
		}
		barrier := uint64(0)
		if r.Operates() && r.ID != wire.IDAMPart {
			barrier = b.book.BarrierOf(r.Epoch)
		}
		l := b.laneFor(inOrder, barrier, r.Len())
		if l == nil {
			return n
		}
		b.scratch.Frame = r.Frame
		b.scratch.Frame.AckNow = q.Len() == 1 || q.All()[1].ID == wire.IDPutSignal
		s := l.Tep.Post(&b.scratch.Frame)
		if s != transport.Done && s != transport.Pending {
			return n
		}
		q.Pop()
		if r.Operates() {
			r.Move(l.place)
			for _, region := range wire.Changes(r.ID, r.Head) {
				l.touch(region, r.Epoch)
			}
		}
		if inOrder {
			b.ordered.Enter()
		}
		replay.Request(r).Replayed(l.ID)
		b.ReplayedFrames++
		b.ReplayedBytes += uint64(r.Len())
		r.Posted(s == transport.Done)
		n++
	}
	if n > 0 {
		b.host.Posted()
	}
	return n
}

// dropReplays ends what waits for a new life that won't come.
func (b *Box) dropReplays(err error) {
	for _, q := range []*replay.Queue{&b.replayOrdered, &b.replayAny, &b.replayOther} {
		for q.Len() > 0 {
			r := q.Pop()
			if wire.InOrder(r.ID) {
				b.ordered.Enter() // the end of a frame takes it off again
			}
			r.Executed(0, err)
		}
	}
}
