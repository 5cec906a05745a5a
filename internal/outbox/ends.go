package outbox

import (
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// FrameSent implements request.Owner.
func (b *Box) FrameSent(r *request.Request) {
	r.Borrowed--
	if r.Whole && r.Borrowed == 0 && r.Replies == 0 {
		b.report(r, r.Err)
	}
}

// FrameExecuted implements request.Owner.
func (b *Box) FrameExecuted(r *request.Request, tag uint64, err error) {
	at, epoch := b.seat(tag), r.Epoch
	r.Frames--
	r.Over++
	if r.Kind == request.AM && (r.Part == 0 || r.Closing) {
		b.orderedLeft()
	}
	if r.Part > 0 && r.Frames == 0 && !r.Closing || r.Signals {
		b.host.Wake() // it can be closed
	}
	if err != nil && r.Err == nil && !(r.Reported && r.Fetches()) { // what was asked for is here: the ask was executed
		if b.end != nil {
			err = b.end // explains more than the frame's
		}
		r.Err = b.fail(r.Name(), outcome.Unknown, err)
	}
	switch {
	case !r.Whole || r.Frames > 0:
	case r.Replies == 0:
		b.finish(r)
	case r.Canceled:
		b.withdraw(r)
	}
	b.retire(at, epoch)
}

// finish is the target's end of an operation with a request.
func (b *Box) finish(r *request.Request) {
	if e, ok := r.Err.(*outcome.Error); ok && r.Refused > 0 && r.Refused == r.Over {
		e.Fate = outcome.NotExecuted // all of it was refused
	}
	epoch, off := r.Epoch, r.Off
	r.Retired, r.Off = true, false
	b.leave(r)
	if r.Total > 0 {
		b.credit.Finish(r.Total)
		b.host.Wake() // others may begin
	}
	if !r.Begun {
		b.credit.Undo(r.Cost) // it was admitted, and the peer has nothing of it
	}
	if r.Reported {
		b.pool.Put(r)
	} else {
		b.report(r, r.Err)
	}
	if off {
		b.retire(&b.off, epoch)
	}
}

// retire takes what is of an epoch away from its place: it is executed, or ended.
func (b *Box) retire(at *seat, epoch uint64) {
	if !at.place.Leave(epoch) {
		return
	}
	if b.fenced != 0 { // who waits for it looks again
		b.fenced = 0
		b.host.Wake()
	}
	b.Recheck()
}

// End ends everything, for good: what waits at once, what is on lanes when their connections are closed.
func (b *Box) End(err error) {
	b.shut, b.end = err, err
	b.up, b.use, b.lastPut = nil, nil, nil
	b.ordered.Forget()
	b.findReach()
	b.endQueue(&b.pendOrdered, err)
	b.endQueue(&b.pendAny, err)
	b.endQueue(&b.signals, err)
	b.endGets(err)
	b.Debts.End(err)
	b.dropReplays(err)
	b.endWaiters(&b.rooms, b.fail("post", outcome.NotExecuted, err))
	ended := b.fail("flush", outcome.Unknown, outcome.Uncovered(err, b.Uncovered()))
	b.endWaiters(&b.flushes, ended)
	b.endWaiters(&b.partial, ended)
}

// endQueue ends the requests that wait. Those with frames on lanes end with the last of these.
func (b *Box) endQueue(q *request.Queue, err error) {
	for r := q.Pop(); r != nil; r = q.Pop() {
		fate := outcome.NotExecuted
		if r.Begun {
			fate = outcome.Unknown
		}
		if r.Err == nil {
			r.Err = b.fail(r.Name(), fate, err)
		}
		r.Whole, r.Replies = true, 0
		if r.Frames == 0 {
			b.finish(r)
		}
	}
}

// Cancel asks for a request to end unexecuted. One that waits ends at once, also if lanes have handed it back; of one that is on a lane the
// acknowledgement or the exchange about the lane decides.
func (b *Box) Cancel(r *request.Request) {
	r.Canceled = true
	switch r.Kind {
	case request.Flush:
		if b.flushes.Remove(r) || b.partial.Remove(r) {
			r.Retired = true
			b.report(r, b.fail("flush", outcome.Unknown, outcome.ErrCanceled))
		}
	case request.Room:
		if b.rooms.Remove(r) {
			r.Retired = true
			b.report(r, b.fail("post", outcome.NotExecuted, outcome.ErrCanceled))
		}
	case request.Put, request.AM, request.Get, request.Atomic, request.Receive:
		if r.Begun || !b.pendOrdered.Remove(r) && !b.pendAny.Remove(r) && !b.gets.pend.Remove(r) {
			if !b.unpost(r) {
				b.withdraw(r)
			}
			return
		}
		r.Whole, r.Replies = true, 0
		r.Err = b.fail(r.Name(), outcome.NotExecuted, outcome.ErrCanceled)
		b.finish(r)
		b.host.Wake() // who stood behind it may go
	case request.None, request.Close, request.Dial, request.Accept:
	}
}

// KeepCopies makes the rest of an operation independent of the user's memory. lanes are all connections
// on which frames of it may be.
func (b *Box) KeepCopies(r *request.Request, lanes []transport.Endpoint) {
	switch r.Kind {
	case request.Get, request.Put, request.AM, request.Atomic, request.Receive:
		if r.Unsent {
			r.Unsent = false
			b.freed(r.Epoch)
		}
		b.recall(r)
		if r.Fetches() {
			b.letGoGet(r)
			return
		}
	case request.None, request.Flush, request.Close, request.Dial, request.Accept, request.Room:
		return
	}
	of := func(c transport.Completer) bool { return replay.Request(c) == r }
	for _, l := range lanes {
		l.Detach(of)
	}
	b.replayOrdered.Own(of)
	b.replayAny.Own(of) // of others there is no request
	r.Borrowed, r.Copied = 0, true
	r.Header, r.Payload = append([]byte(nil), r.Header...), append([]byte(nil), r.Payload...)
}
