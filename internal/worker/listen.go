package worker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/arrivals"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// Listener is where peers dial: one address, and the same on each rail.
type Listener struct {
	w       *Worker
	doors   *paths.Doors
	secret  secret.Secret
	backlog arrivals.Backlog[*Endpoint]
	closed  bool
}

// Listen binds addr, and each chosen rail. See paths.OpenDoors.
func (w *Worker) Listen(addr string, o ListenOptions) (*Listener, error) {
	if w.closed {
		return nil, &outcome.Error{Op: "listen", Err: outcome.ErrClosed}
	}
	ln := &Listener{w: w, secret: o.Secret}
	ln.backlog.Unasked = o.unasked
	var err error
	if ln.doors, err = paths.OpenDoors(&w.ground, w.ifaces, addr, ln, w.env.Log); err != nil {
		return nil, &outcome.Error{Op: "listen", Peer: addr, Err: err}
	}
	w.listeners = append(w.listeners, ln)
	return ln, nil
}

// own is how to get to an address without a network: to one of the worker's own listeners.
func (w *Worker) own(addr string) *paths.Path {
	for _, ln := range w.listeners {
		if p := ln.doors.Own(addr); p != nil {
			return p
		}
	}
	return nil
}

// Addrs are the bound addresses, the one asked for first.
func (ln *Listener) Addrs() []string { return ln.doors.Addrs() }

// Close ends listening. Endpoints that were accepted stay; those that were not are aborted.
func (ln *Listener) Close() error {
	if ln.closed {
		return nil
	}
	ln.closed = true
	err := ln.doors.Close()
	ln.w.listeners = slices.DeleteFunc(ln.w.listeners, func(o *Listener) bool { return o == ln })
	left, accepts := ln.backlog.Close()
	for _, r := range accepts {
		r.Retired = true
		ln.w.Report(r, &outcome.Error{Op: "accept", Err: outcome.ErrClosed})
	}
	for _, ep := range left {
		ep.Abort()
	}
	return err
}

// Accept returns the next endpoint, or a request whose Result it will be.
func (ln *Listener) Accept() (*Endpoint, *request.Request, error) {
	if ln.closed {
		return nil, nil, &outcome.Error{Op: "accept", Err: outcome.ErrClosed}
	}
	if ep, ok := ln.backlog.Next(); ok {
		return ep, nil, nil
	}
	r := ln.w.pool.Get(request.Accept, nil)
	ln.backlog.Wait(r)
	return nil, r, nil
}

// arrived hands a new endpoint, whose first lane is up, to who waits for it.
func (ln *Listener) arrived(ep *Endpoint) {
	if r := ln.backlog.Arrived(ep); r != nil {
		r.Result, r.Retired = ep, true
		ln.w.Report(r, nil)
	}
}

// gone takes an endpoint that ended out of those that wait: nobody will be given it, so nobody will close it.
func (ln *Listener) gone(ep *Endpoint) {
	if ln.backlog.Gone(ep) {
		ln.w.forget(ep)
	}
}

// welcome judges a hello: a new endpoint, or a further lane of one.
func (w *Worker) welcome(l *link, h wire.Hello) {
	l.helloNonce, l.ID = h.Nonce, h.Instance
	my := failover.Identity{Incarnation: h.Incarnation, Endpoint: h.Endpoint}
	yours := failover.Identity{Incarnation: h.PeerIncarnation, Endpoint: h.PeerEndpoint}
	if yours == (failover.Identity{}) || w.isCalled(yours) {
		w.welcomeNew(l, h, my)
		return
	}
	ep := w.endpoint(yours.Endpoint)
	if ep == nil || yours.Incarnation != w.incarnation || ep.over() {
		l.answer(wire.JoinKey{}, wire.IDEPClosed, wire.EPClosed{Incarnation: w.incarnation, Nonce: h.Nonce}.AppendTo(nil))
		w.sendOff(l, errNotHere)
		return
	}
	switch {
	case !wireup.Joins(ep.key, &h) || !l.ln.secret.Equal(ep.secret):
		l.reject(wire.RejectSecret, "the join key is not that of the endpoint")
	case h.Instance.Opener != ep.side.Other():
		l.reject(wire.RejectBad, "the instance is named as if this side had opened it")
	case len(ep.up)+len(ep.opening) >= w.cfg.MaxLanes && !ep.makeRoom():
		l.reject(wire.RejectLimit, fmt.Sprintf("the endpoint has its %d lanes already", w.cfg.MaxLanes))
	default:
		ep.join(l, ep.names.Hello(my))
	}
}

var errUnheard = errors.New("the peer has never answered on it, and opens others")

// makeRoom gives up the oldest lane on which nothing has come since it came up, if that is a while ago: the peer, who tries again and again, was never told that it is up.
func (ep *Endpoint) makeRoom() bool {
	i := slices.IndexFunc(ep.up, func(l *link) bool {
		return ep.terms.Mode == wire.ModeFailover && l.path == nil && l.alive.RoundTrip() == 0 && l.Tep.Counts().Accepted == 0 && ep.w.now-l.Since >= ep.w.cfg.LostAfter
	})
	if i >= 0 {
		ep.lose(ep.up[i], errUnheard)
	}
	return i >= 0
}

var errNotHere = errors.New("it is for an endpoint that is not here")

// welcomeNew makes an endpoint for a first lane.
func (w *Worker) welcomeNew(l *link, h wire.Hello, my failover.Identity) {
	ln := l.ln
	if h.Instance.Opener != wire.Dialer {
		l.reject(wire.RejectBad, "the first lane is the dialer's to open")
		return
	}
	if ln.backlog.Unasked && !wire.IsWorker(h.PeerEndpoint) {
		l.reject(wire.RejectBad, "this is where who has the worker's address is let in (Worker.Connect), not who dials host and port")
		return
	}
	if err := ln.backlog.Refuses(h.Nonce); err != nil {
		l.reject(wire.RejectLimit, err.Error())
		return
	}
	ep := w.newEndpoint(wire.Acceptor, l.Tep.Remote(), h.Mode)
	terms, err := ep.terms.Agree(h.Mode, h.Required|h.Optional, h.MaxFrame, h.MaxMessage)
	if err != nil {
		l.reject(wire.RejectBad, err.Error())
		w.forget(ep)
		return
	}
	ep.agree(terms)
	ep.names.Yours, ep.peer = my, h.Name
	ep.box.Incarnation, ep.box.Credits, ep.box.Backlog = my.Incarnation, int(h.ReplyCredits), h.Backlog
	ep.ln, ep.secret, ep.tellKey = ln, ln.secret, true
	if !ep.secret.IsSet() {
		ep.key = wire.JoinKey(wireup.Nonce(w.env.Rand))
	}
	ln.backlog.Begin(ep, h.Nonce)
	ep.dialWait = timer.New(func() { w.room.Dropped(); ep.end(life.Broke, errHandshake) })
	w.turns.Set(ep.dialWait, w.now+w.cfg.HelloTimeout)
	ep.join(l, failover.HelloArrived)
}

// join lets the hand-over machine decide about an instance.
func (ep *Endpoint) join(l *link, what failover.What) {
	ep.carry(ep.hand.Step(failover.Event{What: what, ID: l.ID, Unconfirmed: l.wu.Confirms()}), l)
	if l.ep == nil { // it was not let in
		ep.w.sendOff(l, errBusy)
	}
}

// sendAck lets an accepted connection in.
func (ep *Endpoint) sendAck(l *link) {
	w := ep.w
	w.room.Leave(l)
	l.ep = ep
	if ep.here == "" {
		ep.here = l.Tep.Local()
	}
	ep.announced = ep.ln.doors.Told(ep.here, ep.addr, wire.MaxAddrs)
	a, key := ep.terms.HelloAck(&w.cfg, ep.names, l.ID, l.helloNonce), ep.key
	a.Addrs, a.Join = ep.announced, l.wu.Admits(ep.key)
	if ep.tellKey { // without a secret; with one there is none yet, and both make it of what they have said
		a.JoinKey, a.Join, key = ep.key, wire.JoinProof{}, wire.JoinKey{}
	}
	l.answer(key, wire.IDHelloAck, a.AppendTo(nil))
	if ep.tellKey {
		ep.key, ep.tellKey = l.wu.JoinKey(ep.key), false
	}
	if !l.wu.Confirms() {
		ep.cameUp(l)
		return
	}
	ep.opening = append(ep.opening, l)
	l.warned = false
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
}

// confirmed: the peer has agreed to a lane that this side opens; or the opener of one that this side has agreed to has proved that it is there.
func (ep *Endpoint) confirmed(l *link) {
	ep.cameUp(l)
	ep.carry(ep.hand.Step(failover.Event{What: failover.HelloAcked, ID: l.ID}), nil)
}
