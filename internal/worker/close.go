package worker

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// closing is how an endpoint comes to an end.
//
//	closer                                   peer
//	  flushes
//	  Close   --on each lane, and on those that come--->
//	          <---------------------------- Closed    its own operations end with ErrPeerClosed
//	  closes its connections ------------->           closes when it sees the end, or after a time
type closing struct {
	request  *request.Request
	said     bool // our Close went out
	deadline *timer
}

// PostClose flushes and ends the endpoint in agreement with the peer; the request's end is the endpoint's.
func (ep *Endpoint) PostClose() (*request.Request, error) {
	switch ep.state {
	case StateClosed, StateClosing:
		return nil, ep.opError("close", NotExecuted, ErrClosed)
	case StateFailed:
		err, n := ep.err, ep.uncovered()
		ep.note(closeCalled)
		ep.w.forget(ep)
		if errors.Is(err, ErrPeerClosed) && n == 0 {
			return nil, nil
		}
		return nil, ep.opError("close", Unknown, uncovered(err, n))
	}
	ep.w.now = ep.w.env.Now()
	r, err := ep.flush(request.Close)
	if err != nil {
		return nil, err
	}
	ep.note(closeCalled)
	ep.request = r
	ep.w.turns.set(ep.deadline, ep.w.now+ep.w.cfg.Times.Close)
	ep.checkFlushes()
	return r, nil
}

// sayClose tells the peer, once everything before is executed: on each lane, since nothing but the answer
// shows whether one carries.
func (ep *Endpoint) sayClose() {
	for _, l := range ep.up {
		if !l.saidClose {
			l.saidClose, ep.said = true, true
			l.post(wire.IDClose, wire.Close{Code: wire.CloseGraceful}.AppendTo(ep.w.head[:0]))
		}
	}
}

// closedArrived: the peer agrees.
func (ep *Endpoint) closedArrived() {
	if ep.state != StateClosing || !ep.said {
		return
	}
	ep.endClose(nil)
}

func (ep *Endpoint) closeTimedOut() {
	if ep.state == StateClosing {
		ep.endClose(fmt.Errorf("%w; the peer did not agree to the close in time", uncovered(ErrPeerFailed, ep.uncovered())))
	}
}

// endClose is the end of a close, good or bad.
func (ep *Endpoint) endClose(err error) {
	r := ep.request
	ep.request = nil
	if err == nil {
		ep.covered = ep.book.Issued()
		err = ep.takeRefusal()
	} else {
		err = ep.opError("close", Unknown, err)
	}
	ep.note(settled)
	ep.ruin(ErrClosed)
	if r != nil {
		ep.flushes.Remove(r)
		r.Retired = true
		ep.report(r, err)
	}
	ep.w.forget(ep)
}

// closeArrived: the peer closes. What it had posted is executed; what this side still had is not wanted any more.
func (ep *Endpoint) closeArrived(l *link, m wire.Close) {
	if m.Code == wire.CloseAborted {
		ep.fail(fmt.Errorf("%w: the peer aborted the endpoint", ErrPeerFailed))
		return
	}
	l.post(wire.IDClosed, wire.Closed{}.AppendTo(ep.w.head[:0]))
	if ep.state == StateClosing {
		return // both close at once; the answer to our own Close decides
	}
	for _, l := range ep.up {
		ep.linger(l)
	}
	ep.end(peerClosed, ErrPeerClosed)
}

// linger keeps a connection open until the peer, having read it, hangs up.
func (ep *Endpoint) linger(l *link) {
	w := ep.w
	w.turns.stop(l.limit)
	l.limit = newTimer(func() { w.bury(l) })
	w.turns.set(l.limit, w.now+w.cfg.HelloTimeout)
	l.lingers = true
}

// Abort ends the endpoint at once; the peer is told if that is possible without waiting.
func (ep *Endpoint) Abort() {
	w := ep.w
	if ep.state == StateClosed {
		return
	}
	if !ep.over() {
		for _, l := range ep.up {
			l.post(wire.IDClose, wire.Close{Code: wire.CloseAborted}.AppendTo(w.head[:0]))
		}
		if !w.inTurn {
			for _, i := range w.ifaces {
				i.Flush()
			}
		}
		ep.end(broke, ErrClosed)
	}
	if ep.state == StateFailed {
		ep.note(closeCalled)
	}
	w.forget(ep)
	if !w.inTurn {
		w.buryAll()
	}
}

// fail ends the endpoint with an error.
func (ep *Endpoint) fail(err error) {
	if ep.over() {
		return
	}
	ep.w.env.Log.Warn("endpoint failed", "peer", ep.addr, "reason", err)
	ep.end(broke, err)
}

func (ep *Endpoint) end(h happened, err error) {
	wasDialing := ep.state == StateDialing
	ep.note(h)
	ep.err = err
	if r := ep.request; r != nil { // was closing
		ep.request = nil
		ep.flushes.Remove(r)
		r.Retired = true
		ep.report(r, ep.opError("close", Unknown, uncovered(err, ep.uncovered())))
		ep.w.forget(ep)
	}
	ep.ruin(err)
	if r := ep.dial; r != nil {
		ep.dial = nil
		r.Retired = true
		ep.report(r, ep.opError("dial", NotExecuted, err))
	}
	switch {
	case wasDialing:
		ep.w.forget(ep) // the user never had it
	case err != ErrClosed:
		ep.w.event(Event{Kind: Failed, Endpoint: ep, Err: err})
	}
}

// ruin ends everything that the endpoint still has: once, whatever the reason.
func (ep *Endpoint) ruin(err error) {
	w := ep.w
	for _, t := range []*timer{ep.suspend, ep.deadline, ep.dialWait, ep.live.tick} {
		w.turns.stop(t)
	}
	for _, p := range ep.paths {
		w.turns.stop(p.redial)
	}
	for _, ls := range [][]*link{ep.up, ep.opening, ep.lost} {
		for _, l := range ls {
			l.unplace()
			l.Note(lane.Ended)
			if !l.lingers {
				w.turns.stop(l.limit)
				w.bury(l)
			}
		}
	}
	ep.up, ep.opening, ep.lost = nil, nil, nil
	ep.hand.Step(failover.Event{What: failover.Ended})
	ep.ordered.lane, ep.lastPut = nil, nil
	ep.endQueue(&ep.pendOrdered, err)
	ep.endQueue(&ep.pendAny, err)
	ep.dropReplays(err)
	ep.endWaiters(&ep.rooms, ep.opError("post", NotExecuted, err))
	for r := ep.flushes.Pop(); r != nil; r = ep.flushes.Pop() {
		if r.Kind == request.Close {
			continue // its end is reported by who ends the close
		}
		r.Retired = true
		ep.report(r, ep.opError("flush", Unknown, uncovered(err, ep.uncovered())))
	}
	ep.parts.Drop()
}

// farewell takes what still comes on a connection of an endpoint that ended here: the peer may close it on
// several lanes, and wants to know which of them live.
func (l *link) farewell(id uint8, body []byte) {
	if !l.lingers {
		return
	}
	switch id {
	case wire.IDClose:
		l.post(wire.IDClosed, wire.Closed{}.AppendTo(l.w.head[:0]))
	case wire.IDPing:
		if m, err := wire.DecodePing(body); err == nil {
			l.post(wire.IDPong, wire.Pong(m).AppendTo(l.w.head[:0]))
		}
	}
}

// endQueue ends the requests that wait. Those with frames on lanes end with the last of these.
func (ep *Endpoint) endQueue(q *request.Queue, err error) {
	for r := q.Pop(); r != nil; r = q.Pop() {
		fate := NotExecuted
		if r.Begun {
			fate = Unknown
		}
		if r.Err == nil {
			r.Err = ep.opError(r.Kind.String(), fate, err)
		}
		r.Whole = true
		if r.Frames == 0 {
			ep.finish(r)
		}
	}
}

// forget takes an endpoint out of the worker: from now on its id is answered with StateClosed.
func (w *Worker) forget(ep *Endpoint) {
	for i, o := range w.endpoints {
		if o == ep {
			w.endpoints = append(w.endpoints[:i], w.endpoints[i+1:]...)
			return
		}
	}
}
