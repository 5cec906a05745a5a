package worker

import (
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// queues are what can't be posted yet. Replays stand before what waits, each in its own class: an
// operation without order never waits behind one that must wait for the order lane.
type queues struct {
	ready                    bool // in the worker's list
	replayOrdered, replayAny replays
	pendOrdered, pendAny     request.Queue
	flushes                  request.Queue
	rooms                    request.Queue // wait until more may be posted
	lastPut                  *link
}

// stay is the backlog up to which small operations stay on the lane of the last one: they share its writes.
const stay = 64 << 10

// pick is the lane for a frame without order promise, nil if there is none.
func (ep *Endpoint) pick() *link {
	if len(ep.up) == 1 {
		return ep.up[0]
	}
	if l := ep.lastPut; l != nil && l.usable() && l.Backlog() < stay {
		return l
	}
	ep.lastPut = ep.least()
	return ep.lastPut
}

// enqueue issues r and posts as much of it as goes now.
func (ep *Endpoint) enqueue(q *request.Queue, r *request.Request) {
	r.Epoch = ep.book.Issue()
	q.Push(r)
	ep.posted()
	ep.postQueue(q)
}

// dispatch posts what can be posted and returns the number of frames.
func (ep *Endpoint) dispatch() (n int) {
	if len(ep.up) == 0 {
		return 0
	}
	n += ep.postReplays(&ep.replayOrdered)
	n += ep.postReplays(&ep.replayAny)
	n += ep.postQueue(&ep.pendOrdered)
	n += ep.postQueue(&ep.pendAny)
	if n > 0 {
		ep.posted() // the lanes may have been idle when they were looked at last
	}
	return n
}

// postQueue posts the frames of the requests in q, in order, until there is no room.
func (ep *Endpoint) postQueue(q *request.Queue) (n int) {
	ordered := q == &ep.pendOrdered
	if ordered && ep.replayOrdered.len() > 0 || !ordered && ep.replayAny.len() > 0 {
		return 0 // R13
	}
	for r := q.Head(); r != nil; r = q.Head() {
		k, done := ep.advance(r, ordered)
		n += k
		if !done {
			return n
		}
		q.Pop()
		if r.Borrowed == 0 {
			ep.report(r, r.Err)
		}
		ep.checkRooms()
	}
	return n
}

// PostRoom ends when operations that were refused for back-pressure may be posted again.
func (ep *Endpoint) PostRoom() (*request.Request, error) {
	if err := ep.mayPost("post"); err != nil {
		return nil, err
	}
	r := ep.w.pool.Get(request.Room, ep)
	ep.rooms.Push(r)
	ep.checkRooms()
	return r, nil
}

// checkRooms lets those go on who wait for room, once half of it is free.
func (ep *Endpoint) checkRooms() {
	if ep.rooms.Len() == 0 || max(ep.pendAny.Len(), ep.pendOrdered.Len()) > ep.w.cfg.Pending/2 {
		return
	}
	ep.endWaiters(&ep.rooms, nil)
}

// endWaiters ends requests that only wait.
func (ep *Endpoint) endWaiters(q *request.Queue, err error) {
	for r := q.Pop(); r != nil; r = q.Pop() {
		r.Retired = true
		ep.report(r, err)
	}
}

// advance posts frames of r and says whether it is whole.
func (ep *Endpoint) advance(r *request.Request, ordered bool) (n int, done bool) {
	w := ep.w
	for !r.Whole {
		l := ep.laneFor(ordered)
		if l == nil {
			return n, false
		}
		f := &w.frame
		protocol.Next(r, ep.limits, w.head[:0], f)
		if ep.flushes.Len() > 0 && len(f.Payload) == len(r.Payload) {
			f.AckNow = true // somebody waits for it
		}
		s := l.Tep.Post(f)
		if s != transport.Done && s != transport.Pending {
			return n, false // Room or the lane's loss will wake us
		}
		protocol.Taken(r, f, s)
		if ordered {
			ep.ordered.unacked++
		}
		n++
	}
	return n, true
}

func (ep *Endpoint) laneFor(ordered bool) *link {
	if ordered {
		return ep.orderLane()
	}
	return ep.pick()
}

// FrameSent implements request.Owner.
func (ep *Endpoint) FrameSent(r *request.Request) {
	r.Borrowed--
	if r.Whole && r.Borrowed == 0 {
		ep.report(r, r.Err)
	}
}

// FrameExecuted implements request.Owner.
func (ep *Endpoint) FrameExecuted(r *request.Request, _ uint64, err error) {
	r.Frames--
	if r.Kind == request.AM {
		ep.ordered.unacked--
	}
	if err != nil && r.Err == nil {
		r.Err = ep.opError(r.Kind.String(), Unknown, ep.why(err))
	}
	if r.Whole && r.Frames == 0 {
		ep.finish(r)
	}
}

// why is the endpoint's own error if it has one: it explains more than the frame's.
func (ep *Endpoint) why(err error) error {
	if ep.err != nil {
		return ep.err
	}
	return err
}

// finish is the target's end of an operation with a request.
func (ep *Endpoint) finish(r *request.Request) {
	epoch := r.Epoch
	r.Retired = true
	if r.Reported {
		ep.w.pool.Put(r)
	} else {
		ep.report(r, r.Err)
	}
	ep.retire(epoch)
}

// retire is the target's end of an operation.
func (ep *Endpoint) retire(epoch uint64) {
	if ep.book.Retire(epoch) && ep.flushes.Len() > 0 {
		ep.checkFlushes()
	}
}

// report is the user's end of a request.
func (ep *Endpoint) report(r *request.Request, err error) { ep.w.report(r, err) }

func (w *Worker) report(r *request.Request, err error) {
	if r.Reported {
		return
	}
	if !r.Copied { // else the engine goes on with what is its own
		r.Header, r.Payload = nil, nil
	}
	if r.OnSent != nil {
		w.calls = append(w.calls, Call{Done: r.OnSent, Err: err})
		r.OnSent = nil
	}
	r.End(err)
	w.pool.Put(r)
}

// checkFlushes ends the flushes that have nothing left to wait for.
func (ep *Endpoint) checkFlushes() {
	for r := ep.flushes.Head(); r != nil; r = ep.flushes.Head() {
		if !r.Whole && !ep.book.Done(r.Epoch) || ep.refused.seen < ep.refused.known {
			return
		}
		if r.Kind == request.Close {
			ep.sayClose()
			return // it ends when the peer agrees
		}
		ep.flushes.Pop()
		ep.covered = r.Issued
		r.Retired = true
		ep.report(r, ep.takeRefusal())
	}
}
