package worker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/timer"
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
	deadline *timer.Timer
}

// PostClose flushes and ends the endpoint in agreement with the peer; the request's end is the endpoint's.
func (ep *Endpoint) PostClose() (*request.Request, error) {
	switch ep.state {
	case life.Dialing, life.Ready, life.Suspended:
	case life.Closed, life.Closing:
		return nil, ep.opError("close", outcome.NotExecuted, outcome.ErrClosed)
	case life.Failed:
		err, n := ep.err, ep.box.Uncovered()
		ep.note(life.CloseCalled)
		ep.box.Shut(outcome.ErrClosed)
		ep.w.forget(ep)
		if errors.Is(err, outcome.ErrPeerClosed) && n == 0 {
			return nil, nil
		}
		return nil, ep.opError("close", outcome.Unknown, outcome.Uncovered(err, n))
	}
	ep.w.now = ep.w.env.Now()
	ep.note(life.CloseCalled)
	ep.box.Shut(outcome.ErrClosed)
	ep.w.turns.Set(ep.deadline, ep.w.now+ep.w.cfg.Times.Close)
	ep.request = ep.box.PostClose()
	return ep.request, nil
}

// Flushed implements outbox.Host: all that a close waits for is executed.
func (ep *Endpoint) Flushed() { ep.sayClose() }

// sayClose tells the peer, once everything before is executed: on each lane, since nothing but the answer
// shows whether one carries.
func (ep *Endpoint) sayClose() {
	for _, l := range ep.up {
		if !l.saidClose {
			l.saidClose, ep.said = true, true
			l.post(wire.IDClose, wire.Close{Code: wire.CloseGraceful}.AppendTo(ep.w.Head[:0]))
		}
	}
}

// closedArrived: the peer agrees.
func (ep *Endpoint) closedArrived() {
	if ep.state != life.Closing || !ep.said {
		return
	}
	ep.endClose(nil)
}

func (ep *Endpoint) closeTimedOut() {
	if ep.state == life.Closing {
		ep.w.env.Log.Warn("a deadline is over: the peer did not agree to the close (setting close)", "peer", ep.addr, "state", ep.Inspect())
		ep.endClose(fmt.Errorf("%w; the peer did not agree to the close in time", outcome.Uncovered(outcome.ErrPeerFailed, ep.box.Uncovered())))
	}
}

// endClose is the end of a close, good or bad.
func (ep *Endpoint) endClose(err error) {
	if err != nil {
		ep.deafen()
	}
	if r := ep.request; r != nil {
		ep.request = nil
		ep.box.EndClose(r, err)
	}
	ep.note(life.Settled)
	ep.ruin(outcome.ErrClosed)
	ep.w.forget(ep)
}

// closeArrived: the peer closes. What it had posted is executed; what this side still had is not wanted any more.
func (ep *Endpoint) closeArrived(l *link, m wire.Close) {
	if m.Code == wire.CloseAborted {
		ep.fail(fmt.Errorf("%w: the peer aborted the endpoint", outcome.ErrPeerFailed))
		return
	}
	l.post(wire.IDClosed, wire.Closed{}.AppendTo(ep.w.Head[:0]))
	if ep.state == life.Closing {
		return // both close at once; the answer to our own Close decides
	}
	for _, l := range ep.up {
		ep.linger(l)
	}
	ep.end(life.PeerClosed, outcome.ErrPeerClosed)
}

// linger keeps a connection open until the peer, having read it, hangs up.
func (ep *Endpoint) linger(l *link) {
	w := ep.w
	w.turns.Stop(l.limit)
	l.limit = timer.New(func() { w.bury(l) })
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
	l.lingers = true
}

// Abort ends the endpoint at once; the peer is told if that is possible without waiting.
func (ep *Endpoint) Abort() {
	w := ep.w
	if ep.state == life.Closed {
		return
	}
	if !ep.over() {
		for _, l := range ep.up {
			l.post(wire.IDClose, wire.Close{Code: wire.CloseAborted}.AppendTo(w.Head[:0]))
		}
		if !w.inTurn {
			w.rota.Flush()
		}
		ep.end(life.Broke, outcome.ErrClosed)
	}
	if ep.state == life.Failed {
		ep.note(life.CloseCalled)
		ep.box.Shut(outcome.ErrClosed)
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
	if ep.state != life.Dialing { // else there was none
		err = outcome.Failed(err)
	}
	ep.end(life.Broke, err)
}

func (ep *Endpoint) end(h life.Event, err error) {
	wasDialing := ep.state == life.Dialing
	ep.note(h)
	ep.err = err
	if h == life.Broke {
		ep.deafen()
	}
	if r := ep.request; r != nil { // was closing
		ep.request = nil
		ep.box.EndClose(r, outcome.Uncovered(err, ep.box.Uncovered()))
		ep.w.forget(ep)
	}
	ep.ruin(err)
	if ep.ln != nil {
		ep.ln.gone(ep)
	}
	if r := ep.dial; r != nil {
		ep.dial = nil
		r.Retired = true
		ep.w.Report(r, ep.opError("dial", outcome.NotExecuted, err))
	}
	switch {
	case wasDialing:
		ep.w.forget(ep) // the user never had it
	case err != outcome.ErrClosed:
		ep.w.event(delivery.Event{Kind: delivery.Failed, Endpoint: ep, Err: err})
	}
}

// deafen: what is still read before the connections are closed is not executed any more, so it must not be
// acknowledged either. Not after an agreed end, whose last word is still to be written.
func (ep *Endpoint) deafen() {
	for _, l := range ep.up {
		l.Tep.Quiesce()
	}
}

// ruin ends everything that the endpoint still has: once, whatever the reason.
func (ep *Endpoint) ruin(err error) {
	w := ep.w
	for _, t := range []*timer.Timer{ep.suspend, ep.deadline, ep.dialWait, ep.live.tick} {
		w.turns.Stop(t)
	}
	ep.paths.Stop()
	for _, ls := range [][]*link{ep.up, ep.opening, ep.lost} {
		for _, l := range ls {
			l.unplace() // one that lingers reads on
			l.Note(lane.Ended)
			if !l.lingers {
				w.turns.Stop(l.limit)
				w.bury(l)
			}
		}
	}
	ep.up, ep.opening, ep.lost = nil, nil, nil
	ep.hand.Step(failover.Event{What: failover.Ended})
	ep.box.End(err)
	ep.in.Parts.Drop()
	ep.above.Over(err)
	ep.Over(err)
	w.tags.Ended(ep.box, err)
	w.offers.Ended(ep.box)
}

// farewell takes what still comes on a connection of an endpoint that ended here: the peer may close it on
// several lanes, and wants to know which of them live.
func (l *link) farewell(id uint8, body []byte) {
	if !l.lingers {
		return
	}
	switch id {
	case wire.IDClose:
		l.post(wire.IDClosed, wire.Closed{}.AppendTo(l.w.Head[:0]))
	case wire.IDPing:
		if m, err := wire.DecodePing(body); err == nil {
			l.post(wire.IDPong, wire.Pong(m).AppendTo(l.w.Head[:0]))
		}
	}
}

// forget takes an endpoint out of the worker: from now on its id is answered with life.Closed.
func (w *Worker) forget(ep *Endpoint) {
	w.endpoints = slices.DeleteFunc(w.endpoints, func(o *Endpoint) bool { return o == ep })
}
