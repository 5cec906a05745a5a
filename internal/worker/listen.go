package worker

import (
	"errors"
	"fmt"
	"net"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
	"github.com/openbraid/braid/transport"
)

// acceptBacklog is how many endpoints may wait to be accepted.
const acceptBacklog = 1024

// Listener is where peers dial: one address, and the same on each rail.
type Listener struct {
	w       *Worker
	doors   *paths.Doors
	waiting []*Endpoint // not accepted yet
	accepts request.Queue
	closed  bool
}

// Listen binds addr, and each chosen rail. See paths.OpenDoors.
func (w *Worker) Listen(addr string) (*Listener, error) {
	if w.closed {
		return nil, &outcome.Error{Op: "listen", Err: outcome.ErrClosed}
	}
	ln := &Listener{w: w}
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
	for i, o := range ln.w.listeners {
		if o == ln {
			ln.w.listeners = append(ln.w.listeners[:i], ln.w.listeners[i+1:]...)
			break
		}
	}
	for r := ln.accepts.Pop(); r != nil; r = ln.accepts.Pop() {
		r.Retired = true
		ln.w.report(r, &outcome.Error{Op: "accept", Err: outcome.ErrClosed})
	}
	waiting := ln.waiting
	ln.waiting = nil
	for _, ep := range waiting {
		ep.Abort()
	}
	return err
}

// Accept returns the next endpoint, or a request whose Result it will be.
func (ln *Listener) Accept() (*Endpoint, *request.Request, error) {
	if ln.closed {
		return nil, nil, &outcome.Error{Op: "accept", Err: outcome.ErrClosed}
	}
	if len(ln.waiting) > 0 {
		ep := ln.waiting[0]
		ln.waiting = ln.waiting[1:]
		return ep, nil, nil
	}
	r := ln.w.pool.Get(request.Accept, nil)
	ln.accepts.Push(r)
	return nil, r, nil
}

// arrived hands a new endpoint to who waits for it.
func (ln *Listener) arrived(ep *Endpoint) {
	r := ln.accepts.Pop()
	if r == nil {
		ln.waiting = append(ln.waiting, ep)
		return
	}
	r.Result, r.Retired = ep, true
	ln.w.report(r, nil)
}

// gone takes an endpoint that ended out of those that wait: nobody will be given it, so nobody will close it.
func (ln *Listener) gone(ep *Endpoint) {
	for i, o := range ln.waiting {
		if o == ep {
			ln.waiting = append(ln.waiting[:i], ln.waiting[i+1:]...)
			ln.w.forget(ep)
			return
		}
	}
}

// Accepted implements transport.Acceptor. A stranger gets little room and little time.
func (ln *Listener) Accepted(tep transport.Endpoint) (transport.Sink, transport.Options) {
	w := ln.w
	l := &link{w: w, ln: ln, wu: wireup.Accept(), from: topo.HostOf(tep.Remote())}
	l.Tep, l.Path = tep, -1
	same := 0
	for _, o := range w.inbound {
		if o.from == l.from {
			same++
		}
	}
	if ln.closed || len(w.inbound) >= w.cfg.HalfOpen || same >= w.cfg.HalfOpenPer && !w.near(l.from) {
		w.dropped++
		return nil, transport.Options{}
	}
	l.limit = timer.New(func() { l.late(func() { w.stranger(l, errHandshake) }) })
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
	w.inbound = append(w.inbound, l)
	return l, transport.Options{Window: w.cfg.Window}
}

// near says whether a host is this one: all its clients have one address.
func (w *Worker) near(host string) bool {
	for _, i := range w.ifaces {
		if a := i.Attr(); a.Local && a.Name == host {
			return true
		}
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// stranger drops a connection that never became a lane.
func (w *Worker) stranger(l *link, err error) {
	w.turns.Stop(l.limit)
	w.inbound = remove(w.inbound, l)
	if l.State() == lane.Opening {
		l.Note(lane.Ended)
		w.dropped++
		w.env.Log.Debug("connection dropped", "from", l.from, "reason", err)
	}
	w.bury(l)
}

// sendOff drops a connection that has got its answer: not before the peer, having read it, hangs up, since to close
// at once may take the answer away. There is room for so many; beyond it they are closed at once.
func (w *Worker) sendOff(l *link, err error) {
	if w.farewells >= w.cfg.HalfOpen {
		w.stranger(l, err)
		return
	}
	w.turns.Stop(l.limit)
	w.inbound = remove(w.inbound, l)
	l.Note(lane.Ended)
	w.dropped++
	w.env.Log.Debug("connection dropped", "from", l.from, "reason", err)
	w.farewells++
	l.goodbye = true
	l.limit = timer.New(func() { w.bury(l) })
	w.turns.Set(l.limit, w.now+w.cfg.HelloTimeout)
}

// answer sends one of the handshake's answers, after the preface.
func (l *link) answer(id uint8, body []byte) {
	pre := wire.Preface{Nonce: l.w.nonce()}
	l.post(wire.IDPreface, pre.AppendTo(l.w.Head[:0]))
	l.post(id, body)
}

func (l *link) reject(code wire.RejectCode, text string) {
	l.answer(wire.IDReject, wire.Reject{Code: code, Nonce: l.helloNonce, Text: text}.AppendTo(nil))
	l.w.sendOff(l, fmt.Errorf("rejected: %s", text))
}

// welcome judges a hello: a new endpoint, or a further lane of one.
func (w *Worker) welcome(l *link, h wire.Hello) {
	l.helloNonce, l.ID = h.Nonce, h.Instance
	my := failover.Identity{Incarnation: h.Incarnation, Endpoint: h.Endpoint}
	yours := failover.Identity{Incarnation: h.PeerIncarnation, Endpoint: h.PeerEndpoint}
	if yours == (failover.Identity{}) {
		w.welcomeNew(l, h, my)
		return
	}
	ep := w.endpoint(yours.Endpoint)
	if ep == nil || yours.Incarnation != w.incarnation || ep.over() {
		l.answer(wire.IDEPClosed, wire.EPClosed{Incarnation: w.incarnation, Nonce: h.Nonce}.AppendTo(nil))
		w.sendOff(l, errNotHere)
		return
	}
	switch {
	case !sameKey(h.JoinKey, ep.key):
		l.reject(wire.RejectSecret, "the join key is not that of the endpoint")
	case h.Instance.Opener != ep.side.Other():
		l.reject(wire.RejectBad, "the instance is named as if this side had opened it")
	case len(ep.up)+len(ep.opening) >= w.cfg.MaxLanes:
		l.reject(wire.RejectLimit, fmt.Sprintf("the endpoint has its %d lanes already", w.cfg.MaxLanes))
	default:
		ep.join(l, ep.names.Hello(my, yours))
	}
}

var errNotHere = errors.New("it is for an endpoint that is not here")

// welcomeNew makes an endpoint for a first lane.
func (w *Worker) welcomeNew(l *link, h wire.Hello, my failover.Identity) {
	if h.Instance.Opener != wire.Dialer {
		l.reject(wire.RejectBad, "the first lane is the dialer's to open")
		return
	}
	if len(l.ln.waiting) >= acceptBacklog {
		l.reject(wire.RejectLimit, "too many endpoints wait to be accepted")
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
	ep.key = wire.JoinKey(w.nonce())
	ep.tellKey = true
	ep.ln = l.ln
	ep.join(l, failover.HelloArrived)
	if ep.over() {
		w.forget(ep)
		return
	}
	l.ln.arrived(ep)
}

// join lets the hand-over machine decide about an instance.
func (ep *Endpoint) join(l *link, what failover.What) {
	ep.carry(ep.hand.Step(failover.Event{What: what, ID: l.ID}), l)
	if l.ep == nil { // it was not let in
		ep.w.sendOff(l, errBusy)
	}
}

// sendAck lets an accepted connection in.
func (ep *Endpoint) sendAck(l *link) {
	w := ep.w
	w.inbound = remove(w.inbound, l)
	l.ep = ep
	if ep.here == "" {
		ep.here = l.Tep.Local()
	}
	ep.announced = ep.ln.doors.Told(ep.here, ep.addr, wire.MaxAddrs)
	a := wire.HelloAck{
		Optional: ep.terms.Caps(), Instance: l.ID, Incarnation: ep.names.Mine.Incarnation, Endpoint: ep.names.Mine.Endpoint,
		Nonce: l.helloNonce, Mode: ep.terms.Mode, MaxFrame: ep.terms.MaxFrame, MaxMessage: w.cfg.MaxMessage, Backlog: w.cfg.Backlog, ReplyCredits: uint32(w.cfg.Replies),
		Addrs: ep.announced, Name: w.cfg.Name,
	}
	if ep.tellKey {
		a.JoinKey, ep.tellKey = ep.key, false
	}
	l.answer(wire.IDHelloAck, a.AppendTo(nil))
	ep.cameUp(l)
}
