package worker

import (
	"errors"

	"github.com/openbraid/braid/internal/arrivals"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
	"github.com/openbraid/braid/transport"
)

// Strangers counts the connections to the worker's listeners that never became lanes.
func (w *Worker) Strangers() arrivals.Counts { return w.room.Counts() }

// Greeted implements arrivals.Stranger.
func (l *link) Greeted() bool { return l.wu.Greeted() }

// Accepted implements transport.Acceptor. A stranger gets little room and little time.
func (ln *Listener) Accepted(tep transport.Endpoint) (transport.Sink, transport.Options) {
	w := ln.w
	l := &link{w: w, ln: ln, wu: wireup.Accept(ln.secret), from: topo.HostOf(tep.Remote())}
	l.Tep, l.Path = tep, -1
	out, ok := w.room.Enter(l, l.from, w.ground.Here(w.ifaces, l.from))
	if out != nil {
		w.stranger(out, arrivals.ErrCrowded)
	}
	if !ok {
		return nil, transport.Options{}
	}
	l.limit = timer.New(l.late)
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
	return l, transport.Options{Window: w.cfg.Window, Secret: ln.secret.IsSet()}
}

// stranger drops a connection that never became a lane.
func (w *Worker) stranger(l *link, err error) {
	w.leave(l, err)
	w.bury(l)
}

// sendOff drops a connection that has got its answer: not before the peer, having read it, hangs up, since to close
// at once may take the answer away. There is room for so many; beyond it they are closed at once.
func (w *Worker) sendOff(l *link, err error) {
	w.leave(l, err)
	if l.goodbye = w.room.Refused(); !l.goodbye {
		w.bury(l)
		return
	}
	l.limit = timer.New(func() { w.bury(l) })
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
}

func (w *Worker) leave(l *link, err error) {
	w.turns.Stop(l.limit)
	if w.room.Leave(l) {
		l.Note(lane.Ended)
		w.room.Dropped()
		w.env.Log.Debug("connection dropped", "from", l.from, "reason", err)
	}
}

// answer sends one of the handshake's answers, after the preface. join is the key of the endpoint to which the lane is let in as a further one.
func (l *link) answer(join wire.JoinKey, id uint8, body []byte) {
	preface := l.wu.Answer(wireup.Nonce(l.w.env.Rand), join, id, body)
	l.post(wire.IDPreface, preface.AppendTo(l.w.Head[:0]))
	l.post(id, body)
}

func (l *link) reject(code wire.RejectCode, text string) {
	l.turnAway(wire.Reject{Code: code, Nonce: l.helloNonce, Text: text}, errors.New(text))
}

// turnAway tells a peer, and this side's user, why it does not get in.
func (l *link) turnAway(r wire.Reject, err error) {
	l.answer(wire.JoinKey{}, wire.IDReject, r.AppendTo(nil))
	l.w.sendOff(l, err)
	l.w.tellTurnedAway(l, err)
}

// tellTurnedAway tells this side's user of somebody who speaks braid and was not let in; not of all, if there are many.
func (w *Worker) tellTurnedAway(l *link, err error) {
	if w.room.Tell(w.now) {
		w.env.Log.Warn("a peer was turned away", "connection", l.name(), "reason", err)
		w.event(delivery.Event{Kind: delivery.TurnedAway, Lane: l.name(), Err: err})
	}
}
