package worker

import (
	"errors"
	"fmt"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
)

// lose is R3: in one step, and before any frame about it is sent, a lane takes no more posts and
// accepts no more frames, and its position is fixed.
func (ep *Endpoint) lose(l *link, err error) {
	if !ep.w.inTurn {
		ep.w.now = ep.w.env.Now() // a write outside of a turn failed, and the last turn may be long ago
	}
	if l.State() == lane.Opening && l.path != nil && !l.stood { // its Hello has not left
		l.Tep.Quiesce() // and it stays here
		ep.dropped(l, err)
		return
	}
	position, live := ep.quiesce(l, err)
	if !live {
		return
	}
	if ep.state == life.Failed || ep.state == life.Closed {
		return // quiesce found that the mode allows for no other end
	}
	ep.carry(ep.hand.Step(failover.Event{What: failover.Broke, ID: l.ID, Position: position}), nil)
	ep.afterLoss(l)
}

// maxLost lanes may be lost and not agreed upon. An honest peer answers on any lane that stands for a round trip.
const maxLost = 256

// quiesce does R3 to a lane that is up or opening, and returns its position.
func (ep *Endpoint) quiesce(l *link, err error) (position uint64, live bool) {
	was := l.State()
	if was != lane.Up && was != lane.Opening {
		return 0, false
	}
	l.Note(lane.Broke)
	l.reason = err
	l.Tep.Quiesce()
	l.landing.Leave()
	ep.w.turns.Stop(l.limit)
	ep.up, ep.opening = remove(ep.up, l), remove(ep.opening, l)
	ep.lost = append(ep.lost, l)
	ep.box.LaneLost(&l.Lane)
	c := l.Tep.Counts()
	if was == lane.Opening {
		ep.attemptEnded(l, err)
		return 0, true
	}
	ep.stats.LanesLost++
	ep.live.remove(l)
	l.Fault = ep.blame(l)
	ep.w.env.Log.Info("lane lost", "peer", ep.addr, "lane", l.name(), "instance", l.ID.String(), "reason", err, "fault", l.Fault)
	ep.w.event(delivery.Event{Kind: delivery.LaneDown, Endpoint: ep, Lane: l.name(), Instance: l.ID, Dialed: l.path != nil, Err: err, Fault: l.Fault,
		Posted: c.PostedBytes, Acked: c.AckedBytes, Accepted: c.AcceptedBytes})
	if ep.unsettled() > maxLost {
		ep.fail(fmt.Errorf("%w: more than %d lanes are lost, and it agrees on none", outcome.ErrProtocol, maxLost))
	}
	if ep.terms.Mode != wire.ModeFailover {
		ep.fail(fmt.Errorf("%w: lane %s: %w", outcome.ErrLaneFailed, l.name(), err))
	}
	return l.Tep.Position(), true
}

// unsettled counts lanes that were up, are lost, and are not agreed upon.
func (ep *Endpoint) unsettled() (n int) {
	for _, l := range ep.lost {
		if l.wasUp {
			n++
		}
	}
	return n
}

// afterLoss looks for another life for the path, and for what is left without lanes.
func (ep *Endpoint) afterLoss(l *link) {
	if ep.over() {
		return
	}
	if l.path != nil {
		if l.wasUp {
			l.path.Lost(ep.w.now - l.Since)
		}
		ep.retry(l.path)
	}
	l.Since = ep.w.now
	if len(ep.up) == 0 {
		ep.suspended()
	}
	ep.lanesChanged()
}

// lanesChanged: what was meant for one lane may go elsewhere, also a close.
func (ep *Endpoint) lanesChanged() {
	ep.Wake()
	if ep.state == life.Closing {
		ep.box.Recheck()
	}
}

func (ep *Endpoint) over() bool { return ep.state == life.Failed || ep.state == life.Closed }

// suspended: no lane is left. The endpoint keeps its work and waits for one, not longer than the deadline.
func (ep *Endpoint) suspended() {
	if ep.state != life.Ready && ep.state != life.Closing {
		return
	}
	ep.note(life.LanesGone)
	ep.w.turns.Set(ep.suspend, ep.w.now+ep.w.cfg.Times.Suspended)
	ep.w.event(delivery.Event{Kind: delivery.Suspended, Endpoint: ep})
	if ep.redials() {
		ep.paths.Replan() // what was not good enough beside others may be all there is
	}
}

// carry does what the hand-over machine asks for. from is the connection on which a hello came.
func (ep *Endpoint) carry(actions []failover.Action, from *link) {
	// An action may lead to a step of its own, whose actions use the same memory.
	var own [8]failover.Action
	for _, a := range append(own[:0], actions...) {
		if ep.over() {
			return
		}
		switch a.Do {
		case failover.SendAck:
			ep.sendAck(from)
		case failover.SendBusy:
			from.answer(wire.JoinKey{}, wire.IDBusy, wire.Busy{Instance: from.ID, Nonce: from.helloNonce}.AppendTo(nil))
		case failover.SendClosed:
			from.answer(wire.JoinKey{}, wire.IDEPClosed, wire.EPClosed{Incarnation: ep.w.incarnation, Nonce: from.helloNonce}.AppendTo(nil))
		case failover.Redial:
			if ep.paths != nil {
				ep.paths.RedialAll()
			}
		case failover.SendLost:
			ep.sendLost(a)
		case failover.SendGone:
			if l := ep.find(a.On); l != nil {
				l.post(wire.IDGone, wire.Gone{Instance: a.ID}.AppendTo(ep.w.Head[:0]))
			}
		case failover.Purge:
			ep.purge(a)
		case failover.Release:
			ep.release(a.ID)
		case failover.Fail:
			if ep.state == life.Closing && ep.said && errors.Is(a.Err, failover.ErrPeerEnded) {
				ep.endClose(nil) // its answer was lost, not its consent
				return
			}
			ep.fail(failover.Reason(a.Err))
		}
	}
}

func (ep *Endpoint) sendLost(a failover.Action) {
	l, about := ep.find(a.On), ep.find(a.ID)
	if l == nil {
		return // it broke meanwhile; the machine hears of it and sends again
	}
	m := wire.Lost{Instance: a.ID, Have: a.Have, Position: a.Position}
	if about != nil {
		m.Bytes, m.Refusals = about.Tep.Counts().AcceptedBytes, about.refused.issued
	}
	l.post(wire.IDLost, m.AppendTo(ep.w.Head[:0]))
	if ep.live.judge != nil { // it waits for an answer on a lane that may have no other work, and may fall silent now
		ep.w.turns.Set(ep.live.tick, ep.w.now+time.Microsecond)
	}
}

// purge is R7: with the peer's position what it has is executed, and the rest is replayed.
func (ep *Endpoint) purge(a failover.Action) {
	l := ep.find(a.ID)
	if l == nil {
		return
	}
	ep.stats.Handovers++
	if n := a.Refusals; n > l.refused.seen {
		// Which operations they were is lost with the lane. The next flush must not say that all is well.
		ep.box.Refused(0, ep.opError("flush", outcome.NotExecuted, fmt.Errorf("%w: the peer refused %d operations", outcome.ErrRefused, n-l.refused.seen)))
	}
	if l.wasUp {
		l.give.Settled = func() { ep.handedOver(l, a.Bytes) }
	}
	if err := ep.box.TakeBack(&l.Lane, a.Position, &l.give); err != nil { // R16
		ep.fail(fmt.Errorf("%w: lane %v: position %d: %w\n%s", outcome.ErrProtocol, a.ID, a.Position, err, ep.hand.Dump()))
	}
}

// handedOver: everything that was on a lost lane is executed. accepted is the peer's own count of bytes.
func (ep *Endpoint) handedOver(l *link, accepted uint64) {
	if ep.over() {
		return // ended, not executed
	}
	c := l.Tep.Counts()
	ep.w.event(delivery.Event{Kind: delivery.HandedOver, Endpoint: ep, Lane: l.name(), Instance: l.ID, Dialed: l.path != nil, Err: l.reason,
		Posted: c.PostedBytes, Accepted: c.AcceptedBytes, PeerAccepted: accepted, Replayed: l.give.Replayed})
}

// release: nobody will ask about this instance again.
func (ep *Endpoint) release(id wire.Instance) {
	if l := ep.find(id); l != nil && l.State() == lane.Lost {
		l.Note(lane.Ended)
		ep.lost = remove(ep.lost, l)
		ep.w.bury(l)
	}
}

// lostArrived: the peer has lost a lane, and says how much it had taken from it.
func (ep *Endpoint) lostArrived(on *link, m wire.Lost) {
	e := failover.Event{What: failover.LostArrived, ID: m.Instance, On: on.ID,
		Position: m.Position, Have: m.Have, Bytes: m.Bytes, Refusals: m.Refusals}
	about := ep.find(m.Instance)
	live := false
	if about != nil {
		e.Own, live = ep.quiesce(about, errPeerLost) // R3 before the step
	}
	if ep.over() {
		return
	}
	ep.carry(ep.hand.Step(e), nil)
	if live {
		ep.afterLoss(about)
	}
}

var errPeerLost = errors.New("the peer lost it")
