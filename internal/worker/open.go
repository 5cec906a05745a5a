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
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
	"github.com/openbraid/braid/transport"
)

// Dial begins an endpoint to the first of the addresses that answers. The request ends when its first lanes are up, or with one
// reason for each way that did not work.
func (w *Worker) Dial(addrs []string, o DialOptions) (*Endpoint, *request.Request, error) {
	if w.closed {
		return nil, nil, &outcome.Error{Op: "dial", Err: outcome.ErrClosed}
	}
	if len(addrs) == 0 {
		return nil, nil, &outcome.Error{Op: "dial", Err: fmt.Errorf("%w: no address", outcome.ErrDial)}
	}
	w.now = w.env.Now()
	ways, err := paths.Ways(&w.ground, w.ifaces[0], w.own, addrs)
	if err != nil {
		return nil, nil, &outcome.Error{Op: "dial", Peer: addrs[0], Err: fmt.Errorf("%w: %w", outcome.ErrDial, err)}
	}
	ep := w.newEndpoint(wire.Dialer, addrs[0], o.Mode)
	ep.paths = paths.Begin(&w.ground, ep, ways)
	ep.secret, ep.to = o.Secret, o.to
	r := w.pool.Get(request.Dial, ep.box)
	ep.dial = r
	ep.dialWait = timer.New(ep.dialSettled)
	ep.dialNext() // may have ended it already: no way could even be begun with
	if !w.inTurn {
		w.Flush()
	}
	return ep, r, nil
}

// dialNext tries the next way for the first lane.
func (ep *Endpoint) dialNext() {
	for p := ep.paths.Next(); p != nil; p = ep.paths.Next() {
		if ep.Attempt(p); len(ep.opening) > 0 {
			return
		}
	}
	ep.fail(&outcome.Error{Op: "dial", Peer: ep.addr, Err: ep.to.Undialed(ep.paths.Why())})
}

// Attempt implements paths.Host: it opens a new instance on a path.
func (ep *Endpoint) Attempt(p *paths.Path) {
	w := ep.w
	id := ep.hand.NextInstance()
	l := &link{w: w, ep: ep, path: p, from: topo.HostOf(p.Remote)}
	l.ID, l.Path, l.Since = id, p.Index, w.now
	tep, err := p.Iface.Dial(p.Local, p.Remote, transport.Options{Window: w.cfg.Window, Secret: ep.secret.IsSet()}, l)
	if err != nil {
		ep.notTried(p, err)
		return
	}
	l.Tep = tep
	p.Began()
	hello := ep.terms.Hello(&w.cfg, ep.to.Names(ep.names), wireup.Nonce(w.env.Rand))
	hello.Instance = id
	var preface wire.Preface
	l.wu, preface = wireup.Open(wireup.Keys{Secret: ep.secret, Join: ep.key}, &hello)
	ep.opening = append(ep.opening, l)
	l.limit = timer.New(l.late)
	w.turns.Set(l.limit, w.now+ep.paths.Limit(p, ep.state == life.Dialing))
	ep.carry(ep.hand.Step(failover.Event{What: failover.Opened, ID: id}), nil)
	l.post(wire.IDPreface, preface.AppendTo(w.Head[:0]))
	l.post(wire.IDHello, hello.AppendTo(w.Head[:0]))
}

// late ends a handshake that takes too long: once more turns have looked for what may have arrived. A worker that
// stood still must not blame the peer.
func (l *link) late() {
	switch {
	case !l.warned:
		l.warned = true
		l.w.turns.Set(l.limit, l.w.now+grace)
	case l.ep != nil && l.ep.state == life.Dialing && l.path.Reason != nil: // why an attempt before ended says more than that this one was too short
		l.ep.lose(l, fmt.Errorf("%w; before that: %w", errHandshake, l.path.Reason))
	case l.ep != nil:
		l.ep.lose(l, errHandshake)
	default:
		l.w.stranger(l, errHandshake)
	}
}

// grace is for what arrived while this side stood still.
const grace = 5 * time.Millisecond

var errHandshake = errors.New("the peer did not answer in time (setting handshake): something on the way drops it, or it is no braid peer, or one that listens over another transport")

// notTried: the path could not even begin an attempt.
func (ep *Endpoint) notTried(p *paths.Path, err error) {
	p.Failed(err, false)
	if ep.state != life.Dialing {
		ep.retry(p)
		return
	}
	ep.paths.Tried(p)
}

// attemptEnded: an instance that was never up is lost.
func (ep *Endpoint) attemptEnded(l *link, err error) {
	if l.path == nil {
		return
	}
	l.path.Failed(err, l.stood)
	if ep.state == life.Dialing {
		if !l.heard && (errors.Is(err, transport.ErrPeerClosed) || errors.Is(err, transport.ErrReset)) {
			if wait, ok := ep.paths.Again(l.path); ok {
				ep.w.turns.Set(timer.New(func() { ep.again(l.path) }), ep.w.now+wait)
				return
			}
		}
		ep.paths.Tried(l.path)
		ep.w.turns.Set(timer.New(func() {
			if ep.state == life.Dialing {
				ep.dialNext()
			}
		}), ep.w.now)
		return
	}
	ep.checkDial()
}

// again tries a way for the first lane once more.
func (ep *Endpoint) again(p *paths.Path) {
	if ep.state == life.Dialing {
		if ep.Attempt(p); len(ep.opening) == 0 {
			ep.dialNext()
		}
	}
}

// retry gives a path without instance another one, later each time that it fails.
func (ep *Endpoint) retry(p *paths.Path) {
	if ep.redials() {
		ep.paths.Retry(p)
	}
}

// handshake takes a frame on a connection that is not up yet.
func (l *link) handshake(id uint8, body []byte) {
	s := l.wu.Frame(id, body)
	switch s.Verdict {
	case wireup.More:
	case wireup.Hello:
		l.w.welcome(l, s.Hello)
	case wireup.Up:
		l.ep.answered(l, s.Ack)
	case wireup.Confirmed:
		l.ep.confirmed(l)
		l.ep.tellRails() // that have changed since it was agreed to
	case wireup.Busy:
		l.ep.dropped(l, errBusy)
	case wireup.Closed:
		if !l.path.Proven() { // the endpoint is gone only if that is where the peer was: anybody can repeat what the Hello says
			l.ep.lose(l, l.ep.to.Not(s.Closed.Incarnation))
			return
		}
		e := failover.Event{What: failover.ClosedArrived, ID: l.ID, Echo: true, Restarted: l.ep.names.Restarted(s.Closed.Incarnation)}
		l.ep.carry(l.ep.hand.Step(e), nil)
	case wireup.Refused:
		switch {
		case l.path != nil:
			l.ep.lose(l, s.Err)
		case l.ep != nil:
			l.w.tellTurnedAway(l, s.Err)
			l.ep.lose(l, s.Err)
		case errors.Is(s.Err, wire.ErrMagic): // who doesn't speak braid doesn't read an answer either
			l.w.stranger(l, s.Err)
		default:
			l.turnAway(wireup.RejectFor(s.Err), s.Err)
		}
	}
}

// answered: the acceptor took the hello.
func (ep *Endpoint) answered(l *link, a wire.HelloAck) {
	theirs := failover.Identity{Incarnation: a.Incarnation, Endpoint: a.Endpoint}
	first := ep.names.Yours == failover.Identity{}
	if first && !ep.to.Any() && ep.to.Incarnation != a.Incarnation {
		ep.lose(l, ep.to.Not(a.Incarnation))
		return
	}
	if first {
		terms, err := ep.terms.Agree(a.Mode, a.Required|a.Optional, a.MaxFrame, a.MaxMessage)
		if err != nil {
			ep.lose(l, err)
			return
		}
		ep.agree(terms)
		ep.names.Yours, ep.key, ep.peer = theirs, l.wu.JoinKey(a.JoinKey), a.Name
		ep.box.Incarnation, ep.box.Credits, ep.box.Backlog = theirs.Incarnation, int(a.ReplyCredits), a.Backlog
	} else if theirs != ep.names.Yours {
		ep.lose(l, fmt.Errorf("%w: the answer is of another endpoint", outcome.ErrProtocol))
		return
	}
	if c, needed := l.wu.Confirm(); needed {
		l.post(wire.IDConfirm, c.AppendTo(ep.w.Head[:0])) // before anything else is
	}
	ep.confirmed(l)
	if first {
		ep.openOthers(a.Addrs)
	} else {
		ep.paths.Heard(a.Addrs)
	}
	ep.checkDial()
}

func (ep *Endpoint) agree(t wireup.Terms) {
	ep.terms = t
	ep.box.MaxMessage, ep.box.NoSignal, ep.box.NoAtomic, ep.box.NoTag, ep.box.NoOffer = t.MaxMessage, !t.Signal, !t.Atomic, !t.Tag, !t.Offer
	ep.box.Clears = t.TagPut
	ep.box.Limits.MaxFrame = int(t.MaxFrame)
}

// dropped is the end of an attempt of which the peer has no record: it wants another one, or never heard of this one.
func (ep *Endpoint) dropped(l *link, err error) {
	ep.w.turns.Stop(l.limit)
	l.Note(lane.Ended)
	ep.opening = remove(ep.opening, l)
	ep.w.bury(l)
	ep.carry(ep.hand.Step(failover.Event{What: failover.BusyArrived, ID: l.ID}), nil)
	ep.attemptEnded(l, err)
	if l.path != nil {
		ep.retry(l.path)
	}
}

var errBusy = errors.New("the peer wants another instance")

// cameUp: wireup is done, both sides may post.
func (ep *Endpoint) cameUp(l *link) {
	ep.w.turns.Stop(l.limit)
	l.Tep.Admit(int(ep.terms.MaxFrame), ep.terms.Mode == wire.ModeFailover)
	l.Note(lane.Answered)
	l.wasUp = true
	trip := time.Duration(0)
	if l.path != nil {
		trip = ep.w.now - l.Since
	}
	l.Since = ep.w.now
	host := topo.HostOf(l.Tep.Local())
	l.Near, l.Speed = ep.w.ground.Runs(l.Tep)
	l.PerFrame, l.ZeroCopy = ep.w.ground.Declares(l.Tep)
	l.Pass, _ = l.Tep.(transport.Passer)
	ep.opening = remove(ep.opening, l)
	ep.up = append(ep.up, l)
	l.InOrder = paths.InOrder(ep.w.ifaces)
	ep.box.LaneUp(&l.Lane)
	ep.stats.LanesUp++
	if l.path != nil {
		l.path.CameUp()
		ep.paths.Pin(l.path, host)
	}
	was := ep.state
	ep.note(life.LaneUp)
	ep.w.turns.Stop(ep.suspend)
	if was == life.Dialing && ep.ln != nil {
		ep.w.turns.Stop(ep.dialWait)
		ep.ln.arrived(ep)
	}
	ep.w.event(delivery.Event{Kind: delivery.LaneUp, Endpoint: ep, Lane: l.name(), Instance: l.ID, Dialed: l.path != nil})
	if was == life.Suspended {
		ep.w.event(delivery.Event{Kind: delivery.Resumed, Endpoint: ep})
	}
	ep.live.add(l, trip)
	ep.lanesChanged()
}

// openOthers builds the lanes after the first.
func (ep *Endpoint) openOthers(addrs []string) {
	ep.paths.Answered(addrs, ep.terms.Mode == wire.ModeFailover)
	if ep.dial != nil {
		ep.w.turns.Set(ep.dialWait, ep.w.now+ep.w.cfg.DialWait)
	}
}

// checkDial ends a dial once each of its lanes came up or did not.
func (ep *Endpoint) checkDial() {
	if ep.dial != nil && len(ep.up) > 0 && ep.paths.Settled() {
		ep.dialSettled()
	}
}

func (ep *Endpoint) dialSettled() {
	ep.w.turns.Stop(ep.dialWait)
	if r := ep.dial; r != nil {
		ep.dial = nil
		r.Retired = true
		ep.w.Report(r, nil)
	}
}
