package worker

import (
	"errors"
	"time"

	"github.com/openbraid/braid/internal/health"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/wire"
)

// liveness lets internal/health judge the lanes of an endpoint. The data path only says that something was
// posted; the lanes' books are looked at by a timer, every few milliseconds while there is work.
type liveness struct {
	judge  *health.Endpoint // nil in mode none, and before anything is agreed
	tick   *timer.Timer
	active bool // the timer looks at the books, not only at what is due
}

// look is how often the books of lanes with unacknowledged work are looked at, as a share of ProbeAfter.
// They are looked at for the lanes' weights, too, so it is not more than longestLook.
const (
	look        = 3
	longestLook = 10 * time.Millisecond
)

var (
	errSilent     = errors.New("silent, while the peer answers on another lane")
	errPeerSilent = errors.New("the peer is silent on all lanes")
)

func (v *liveness) init(ep *Endpoint) { v.tick = timer.New(ep.judgeLanes) }

// add begins to watch a lane that came up.
// trip is the time of its handshake, 0 if that isn't known here: then it is asked at once, while it is idle.
func (v *liveness) add(l *link, trip time.Duration) {
	ep := l.ep
	if ep.terms.Mode == wire.ModeNone {
		return
	}
	c := &ep.w.cfg.Times
	if v.judge == nil {
		v.judge = health.New(health.Config{ProbeAfter: c.ProbeAfter, LostAfter: c.LostAfter, Keepalive: c.Keepalive, PeerTimeout: c.PeerTimeout})
	}
	l.alive.Owner = l
	v.judge.Add(ep.w.now, &l.alive, l.Tep.Counts().RoundTrips, trip)
	ep.w.turns.Set(v.tick, max(min(v.judge.Due(), ep.w.now+c.ProbeAfter), ep.w.now))
}

func (v *liveness) remove(l *link) {
	if v.judge != nil {
		v.judge.Remove(&l.alive)
	}
}

func (v *liveness) pong(l *link, m wire.Pong) {
	if v.judge != nil {
		v.judge.Pong(l.ep.w.now, &l.alive, m.Nonce)
	}
}

// Posted implements outbox.Host: there may be unacknowledged work now.
func (ep *Endpoint) Posted() {
	if ep.live.active || ep.live.judge == nil && len(ep.up) < 2 {
		return
	}
	w := ep.w
	w.now = w.env.Now() // a post comes from outside of a turn, and the last turn may be long ago
	ep.live.active = true
	ep.observe()
	w.turns.Set(ep.live.tick, ep.nextLook())
}

// observe hands the lanes' books in, and says whether one has unacknowledged work, or an answer of the dialogue to bring.
func (ep *Endpoint) observe() (busy bool) {
	for _, l := range ep.up {
		c := l.Tep.Counts()
		owes := c.Posted != c.Acked || ep.hand.Carries(l.ID)
		busy = busy || owes
		if ep.live.judge != nil {
			ep.live.judge.Note(ep.w.now, &l.alive, c.RoundTrips, owes)
			ep.reached(l)
			l.Trip, l.Sure = l.alive.RoundTrip(), l.alive.Sure()
		}
	}
	ep.box.Weigh(ep.w.now)
	return busy
}

// reached asks the transport of a suspect how far its frames have come.
func (ep *Endpoint) reached(l *link) {
	if l.alive.Suspect() {
		ep.live.judge.Reached(ep.w.now, &l.alive, l.Tep.Reached())
	}
}

// judgeLanes is the tick: what has arrived is read by then.
func (ep *Endpoint) judgeLanes() {
	w, v := ep.w, &ep.live
	v.active = ep.observe()
	var actions []health.Action
	if v.judge != nil {
		actions, _ = v.judge.Tick(w.now)
	}
	var condemned []*link
	for _, a := range actions {
		switch a.Do {
		case health.Probe:
			l := a.Lane.Owner.(*link)
			l.post(wire.IDPing, wire.Ping{Nonce: a.Nonce, Time: uint64(w.now)}.AppendTo(w.Head[:0]))
		case health.Condemn:
			condemned = append(condemned, a.Lane.Owner.(*link))
		case health.CondemnAll:
			condemned = append(condemned, ep.up...)
		}
	}
	reason := errSilent
	if len(condemned) == len(ep.up) {
		reason = errPeerSilent
	}
	for _, l := range condemned {
		ep.lose(l, reason)
	}
	if ep.over() {
		return
	}
	if at := ep.nextLook(); at != health.Never {
		w.turns.Set(v.tick, max(at, w.now+time.Microsecond))
	}
}

// nextLook is when something is due, or the books are to be looked at.
func (ep *Endpoint) nextLook() time.Duration {
	at := health.Never
	if ep.live.judge != nil {
		at = ep.live.judge.Due()
	}
	if ep.live.active {
		at = min(at, ep.w.now+min(ep.w.cfg.ProbeAfter/look, longestLook))
	}
	return at
}
