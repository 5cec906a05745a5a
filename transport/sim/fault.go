package sim

import "github.com/openbraid/braid/transport"

// Kind is how a connection or a rail breaks.
type Kind uint8

const (
	Reset   Kind = iota // both sides notice, each in its own time; new dials are refused
	Silence             // nobody is told; new dials hang
	Some                // each side is told, or not: by luck
)

// Dir is a direction as seen from what is named.
type Dir uint8

const (
	Both Dir = iota
	Out
	In
)

// Break breaks the connection of ep, which must be of this network.
func (n *Net) Break(ep transport.Endpoint, k Kind, d Dir) {
	e := ep.(*endpoint)
	if e.life == closed || e.net != n {
		return
	}
	silent := k == Silence
	if d != In {
		n.breakOff(e, silent)
	}
	if e.peer != nil && e.peer.life != closed && d != Out {
		n.breakOff(e.peer, silent)
	}
	e.broke(k)
	if e.peer != nil {
		e.peer.broke(k)
	}
}

// broke is what a break means for one side: it is told later, or never.
func (ep *endpoint) broke(k Kind) {
	if ep.life == dialing {
		ep.lostKnock = ep.lostKnock || ep.peer == nil
		ep.connectAt = 0
	}
	if k == Silence || k == Some && ep.net.luck.oneIn(2) {
		return
	}
	if ep.life == dialing {
		ep.failAt = 0 // sooner than its time-out
	}
	ep.fails(errCut, ep.net.cfg.Notice)
}

// CutRail breaks everything that goes over a rail, until Heal, which makes new dials work again.
func (n *Net) CutRail(name string, k Kind, d Dir) {
	r := n.mustRail("CutRail", name)
	how := cutReset
	if k == Silence || k == Some && n.luck.oneIn(2) {
		how = cutSilence
	}
	if d != In {
		r.cut[0] = how
	}
	if d != Out {
		r.cut[1] = how
	}
	for i := 0; i < len(n.endpoints); i++ {
		if ep := n.endpoints[i]; ep.rail == r {
			n.Break(ep, k, d)
		}
	}
}

// Heal makes a rail whole.
func (n *Net) Heal(name string) { n.mustRail("Heal", name).cut = [2]cutKind{} }

// knock is a dial that reaches the other host.
func (ep *endpoint) knock() {
	n := ep.net
	if ep.life != dialing || ep.lostKnock {
		return
	}
	far, _, _ := n.split(ep.remote)
	if far == nil {
		ep.refused()
		return
	}
	there, back := worst(ep.rail.cut[0], far.cut[1]), worst(far.cut[0], ep.rail.cut[1])
	l := n.listeners[ep.remote]
	switch {
	case there == cutSilence:
		return // the time-out ends it
	case there == cutReset || back == cutReset || l == nil:
		ep.refused()
		return
	case back == cutSilence && n.luck.oneIn(2):
		return
	}
	peer := n.establish(ep, l)
	if back == cutSilence { // half open: the other side believes in it
		peer.out.broken, peer.out.silent = true, true
		return
	}
	ep.connectAt = n.now + n.delay(peer.out.link)
	n.wakeAt(ep.connectAt, ep)
}

func worst(a, b cutKind) cutKind { return max(a, b) }

// establish makes the far end of a connection, which waits for its acceptor.
func (n *Net) establish(ep *endpoint, l *listener) *endpoint {
	peer := n.newEndpoint(l.iface, l.rail, waiting, transport.Options{})
	peer.local, peer.remote = l.addr, ep.local
	ep.peer, peer.peer = peer, ep
	ep.out.link, peer.out.link = n.link(ep.rail, l.rail), n.link(l.rail, ep.rail)
	l.backlog = append(l.backlog, peer)
	n.note(Established, ep, uint64(peer.id), 0)
	return peer
}

func (ep *endpoint) refused() {
	n := ep.net
	n.note(Refused, ep, 0, 0)
	ep.failErr, ep.failAt = errRefused, n.now+n.delay(&n.cfg.Link)
	n.wakeAt(ep.failAt, ep)
}

// Kill ends the host's process as a crash does: nobody there is called back, nothing more is sent, and what was in
// flight from it may arrive in part. With Reset the peers notice, with Silence they do not. The host may be opened again.
func (h *Host) Kill(k Kind) {
	i := h.iface
	if i == nil {
		return
	}
	h.iface, i.closed = nil, true
	for _, l := range i.listeners {
		l.closed, l.backlog = true, nil
		delete(h.net.listeners, l.addr)
	}
	for _, ep := range i.endpoints {
		if ep.life == closed {
			continue
		}
		h.net.Break(ep, k, Both)
		ep.dropControl()
		if ep.peer != nil {
			ep.peer.out.keep(0)
		}
		for at := ep.led.Acked(); at < ep.led.Posted(); at++ {
			e := ep.led.At(at)
			e.Done, e.Unsent = nil, false
		}
		ep.led.Cancel(transport.ErrClosed)
		ep.bury()
	}
	i.endpoints, i.listeners = nil, nil
}
