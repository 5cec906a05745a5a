package outbox

import (
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// enqueue issues r and posts as much of it as goes now.
func (b *Box) enqueue(q *request.Queue, r *request.Request) {
	b.wait(q, r)
	b.host.Posted()
	b.postQueue(q)
}

// wait issues r and lets it wait in q.
func (b *Box) wait(q *request.Queue, r *request.Request) {
	b.book.Barrier()
	r.Epoch = b.book.Issue(b.off.place)
	r.Off, r.Unsent = true, true
	b.unsent.Enter(r.Epoch)
	r.Waits = uint64(len(r.Header) + len(r.Payload))
	b.waiting += r.Waits
	q.Push(r)
}

// landed notes that all of r is on lanes: from now on its frames are what is in the book.
func (b *Box) landed(r *request.Request) {
	if r.Off {
		r.Off = false
		b.retire(&b.off, r.Epoch)
	}
}

// leave notes that r does not wait any more. Idempotent.
func (b *Box) leave(r *request.Request) {
	b.waiting -= r.Waits
	r.Waits = 0
}

// Dispatch posts what can be posted and returns the number of frames.
func (b *Box) Dispatch() (n int) {
	b.checkRooms() // what waited may have been canceled
	if r := b.flushes.Head(); r != nil && r.Whole && r.Kind == request.Flush {
		b.Recheck()
	}
	if len(b.up) == 0 {
		return 0
	}
	n += b.postReplays(&b.replayOther)
	n += b.postReplays(&b.replayOrdered)
	n += b.postReplays(&b.replayAny)
	n += b.Settle()
	b.askFor()
	n += b.postSignals()
	n += b.postParts()
	n += b.postQueue(&b.pendOrdered)
	n += b.postQueue(&b.pendAny)
	n += b.postGets()
	if n > 0 {
		b.host.Posted() // the lanes may have been idle when they were looked at last
	}
	return n
}

// postQueue posts the frames of the requests in q, in order, until there is no room.
func (b *Box) postQueue(q *request.Queue) (n int) {
	ordered := q == &b.pendOrdered
	if ordered && b.replayOrdered.Len() > 0 || !ordered && b.replayAny.Len() > 0 {
		return 0 // R13
	}
	for r := q.Head(); r != nil; r = q.Head() {
		k, done := b.advance(r, ordered)
		n += k
		if !done && (!r.Signals || len(r.Payload) > 0 || r.Frames == 0) {
			return n
		}
		q.Pop()
		if done {
			b.ended(r)
		} else {
			b.leave(r)
			b.signals.Push(r)
		}
		b.checkRooms()
	}
	return n
}

// ended: all of r is posted, or nothing more of it will be.
func (b *Box) ended(r *request.Request) {
	b.leave(r)
	if r.Frames == 0 && r.Replies == 0 {
		b.finish(r)
		return
	}
	b.landed(r)
	switch {
	case r.Replies > 0:
		b.gets.waiting.Push(r)
	case r.Borrowed == 0:
		b.report(r, r.Err)
	}
}

// checkRooms lets those go on who wait for room, once half of it is free.
func (b *Box) checkRooms() {
	if b.rooms.Len() == 0 || b.waiting > b.PendingBytes/2 || max(b.pendAny.Len(), b.pendOrdered.Len(), b.gets.pend.Len()) > b.Pending/2 {
		return
	}
	b.endWaiters(&b.rooms, nil)
}

// endWaiters ends requests that only wait.
func (b *Box) endWaiters(q *request.Queue, err error) {
	for r := q.Pop(); r != nil; r = q.Pop() {
		r.Retired = true
		b.report(r, err)
	}
}

// advance posts frames of r and says whether it is whole.
func (b *Box) advance(r *request.Request, ordered bool) (n int, done bool) {
	if r.Part > 0 {
		b.postParts()
		return b.closeParts(r)
	}
	if ordered && !b.admit(r) {
		return 0, false
	}
	w, barrier := b.scratch, b.book.BarrierOf(r.Epoch)
	for !r.Whole {
		if r.Signals && (len(r.Payload) == 0 || b.inOne(r)) {
			k, done := b.closeSignal(r)
			return n + k, done
		}
		if b.directPart(r) {
			if n++; !r.Whole {
				return n, false
			}
			break
		}
		l := b.laneFor(ordered, barrier, min(len(r.Payload), b.Limits.MaxFrame))
		if l == nil {
			return n, false
		}
		f := &w.Frame
		protocol.Next(r, b.Limits, w.Head[:0], f)
		if len(f.Payload) == len(r.Payload) && (b.awaited(r.Epoch) || r.Signals && len(b.up) > 1) {
			f.AckNow = true
		}
		if !b.post(l, r, f) {
			return n, false // Room or the lane's loss will wake us
		}
		if ordered {
			b.ordered.Enter()
		}
		n++
	}
	return n, true
}

// post puts a frame of r on a lane, and says whether that took it.
func (b *Box) post(l *seat, r *request.Request, f *transport.Frame) bool {
	f.Tag = l.id
	s := l.Tep.Post(f)
	if s != transport.Done && s != transport.Pending {
		return false
	}
	l.place.Enter(r.Epoch)
	if r.Kind == request.Put || r.Kind == request.Atomic {
		l.touch(r.Key.Index, r.Epoch)
		r.Follows(l.id)
	}
	protocol.Taken(r, f, s, l.ID)
	return true
}
