package rc

import (
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/life"
	"github.com/openbraid/braid/transport/rc/mail"
	"github.com/openbraid/braid/transport/rc/outbox"
	"github.com/openbraid/braid/transport/rc/wire"
)

// sayTimes is how often a datagram that has no answer is sent: 2.5 s until a dial finds nobody.
const sayTimes = 8

// call is the dialogue by which a connection is made.
//
//	dialer     request ──>          ──> ready, and what it sends
//	acceptor           reply ──>    (each sends its last word again until it is answered)
type call struct {
	ep     *endpoint
	to     rdma.AHAttr
	conn   uint64
	dialer bool
	peer   uint32 // its queue pair; 0: not known
	last   wire.Message
	times  int
	timer  *timer.Timer
}

func (c *call) open(ep *endpoint, to rdma.AHAttr, conn uint64, dialer bool) {
	c.ep, c.to, c.conn, c.dialer = ep, to, conn, dialer
	c.timer = timer.New(c.again)
}

// dial sends the request.
func (c *call) dial(ep *endpoint, to rdma.AHAttr) {
	c.open(ep, to, ep.f.env.Rand(), true)
	c.say(wire.Request)
}

// terms is what a request and a reply say of our side.
func (c *call) message(v wire.Verb) wire.Message {
	ep := c.ep
	source, port := ep.p.ways.Ports(ep.label())
	return wire.Message{
		Verb: v, Dialer: c.dialer, Conn: c.conn, QPN: ep.qp.Num(), PSN: ep.psn, Yours: c.peer,
		MTU: ep.p.dev.Port().ActiveMTU, Source: source, Port: port, Receives: ep.flow.posted, Segment: uint32(ep.f.o.SegmentBytes),
		ReadFrom: ep.f.o.readFrom(), Reads: ep.p.dev.Attr().MaxReadsIn,
	}
}

// say sends a message, and again until hush.
func (c *call) say(v wire.Verb) {
	c.last, c.times = c.message(v), 0
	c.once()
}

func (c *call) once() {
	wait := mail.SayAgain << c.times
	c.times++
	c.ep.f.timers.Set(c.timer, c.ep.f.env.Now()+wait)
	if err := c.ep.p.mail.Post(c.to, &c.last); err != nil {
		c.ep.fail("dial", err)
	}
}

// again is the timer.
func (c *call) again() {
	if c.times < sayTimes {
		c.once()
		return
	}
	c.ep.lost(c.ep.wrap("dial", transport.ErrReset, errNoAnswer))
}

func (c *call) hush() {
	if c.timer != nil {
		c.ep.f.timers.Stop(c.timer)
	}
}

// is says whether a message belongs to this connection.
func (c *call) is(m *wire.Message, from rdma.AHAttr) bool {
	return c.conn == m.Conn && c.dialer != m.Dialer && c.to == from && (c.peer == 0 || m.QPN == c.peer || m.Verb == wire.Reject)
}

// said is what a peer's datagram does.
func (p *port) said(m *wire.Message, from rdma.AHAttr) {
	i := slices.IndexFunc(p.eps, func(ep *endpoint) bool { return ep != nil && ep.call.is(m, from) })
	if i < 0 {
		p.stranger(m, from)
		return
	}
	ep := p.eps[i]
	switch m.Verb {
	case wire.Request:
		p.tell(from, &ep.call.last) // it did not get the reply
	case wire.Reply:
		ep.replied(m)
	case wire.Ready:
		ep.established()
	case wire.Reject:
		ep.rejected(m)
	case wire.Leave:
		p.answerLeave(m, from)
		ep.told = true
		ep.lost(ep.wrap("receive", transport.ErrPeerClosed, nil))
	case wire.Left:
		p.farewells.Heard(m, from)
	case wire.Verbs:
	}
}

// tell sends a message once.
func (p *port) tell(to rdma.AHAttr, m *wire.Message) { _ = p.mail.Post(to, m) }

// stranger answers what belongs to no connection that is there.
func (p *port) stranger(m *wire.Message, from rdma.AHAttr) {
	switch m.Verb {
	case wire.Request:
		p.asked(m, from)
	case wire.Leave:
		p.answerLeave(m, from)
	case wire.Left:
		p.farewells.Heard(m, from)
	case wire.Reply: // of a dial that was given up: end it over there
		p.tell(from, &wire.Message{Verb: wire.Leave, Dialer: true, Conn: m.Conn, QPN: m.Yours, Yours: m.QPN})
	case wire.Ready, wire.Reject, wire.Verbs:
	}
}

func (p *port) answerLeave(m *wire.Message, from rdma.AHAttr) {
	p.tell(from, &wire.Message{Verb: wire.Left, Dialer: !m.Dialer, Conn: m.Conn, QPN: m.Yours, Yours: m.QPN})
}

// asked: somebody dials.
func (p *port) asked(m *wire.Message, from rdma.AHAttr) {
	no := func(reason uint8) {
		p.tell(from, &wire.Message{Verb: wire.Reject, Reason: reason, Conn: m.Conn, Yours: m.QPN})
	}
	switch {
	case !m.Dialer || p.dead != nil: // asks again, and finds another device here by then
		return
	case p.listener == nil:
		no(wire.ReasonNobody)
		return
	case p.halfOpen >= halfOpen:
		no(wire.ReasonFull)
		return
	}
	ep, err := p.endpoint(accepting, transport.Options{})
	if err != nil {
		p.f.env.Log.Warn("a connection can't be accepted", "from", mail.AddrOf(from), "err", err)
		no(wire.ReasonFull)
		return
	}
	p.halfOpen++
	ep.remote = mail.AddrOf(from).String()
	ep.call.open(ep, from, m.Conn, false)
	if err := ep.connect(m); err != nil {
		p.f.env.Log.Warn("a connection can't be accepted", "from", mail.AddrOf(from), "err", err)
		no(wire.ReasonTerms)
		ep.Close()
		return
	}
	ep.call.say(wire.Reply)
}

// connect brings the queue pair up, given what the peer says of its own. The peer's address is resolved here, afresh.
//
// Source: uct_rc_mlx5_iface_common_devx_connect_qp, with the handle of #11847 that nobody keeps.
func (ep *endpoint) connect(m *wire.Message) error {
	ep.call.peer = m.QPN
	ep.flow.limit, ep.out.Largest = m.Receives, int(min(m.Segment, outbox.ChunkLen))-wire.SegmentLen
	can := ep.p.dev.Attr()
	out, in := min(can.MaxReadsOut, m.Reads), can.MaxReadsIn
	if own := ep.f.o.readFrom(); min(own, m.ReadFrom) > 0 && out > 0 {
		ep.out.ReadFrom = int(max(own, m.ReadFrom))
		ep.p.keys.Begin()
	}
	av := ep.p.ways.Packets(ep.call.to, m)
	av.FlowLabel = ep.label()
	a := rdma.QPAttr{
		State: rdma.RTR, AV: av, PathMTU: min(m.MTU, ep.p.dev.Port().ActiveMTU), DestQPN: m.QPN, RQPSN: m.PSN,
		MaxDestReads: in, MinRNRTimer: rnrTimer,
	}
	mask := rdma.MaskAV | rdma.MaskPathMTU | rdma.MaskDestQPN | rdma.MaskRQPSN | rdma.MaskMaxDestReads | rdma.MaskMinRNRTimer
	if err := ep.qp.Modify(a, mask); err != nil {
		return err
	}
	o := &ep.f.o
	timeout := o.Timeout
	if !can.PeerPort && m.Source != 0 { // an adapter's peer in software, which answers when its program makes progress
		timeout = max(timeout, softTimeout)
	}
	a = rdma.QPAttr{State: rdma.RTS, SQPSN: ep.psn, Timeout: timeout, RetryCount: o.RetryCount, RNRRetry: rnrRetry, MaxReads: out}
	mask = rdma.MaskSQPSN | rdma.MaskTimeout | rdma.MaskRetryCount | rdma.MaskRNRRetry | rdma.MaskMaxReads
	return ep.qp.Modify(a, mask)
}

// label is the flow label of a connection: as random as its first packet number.
func (ep *endpoint) label() uint32 { return ep.psn & 0xfffff }

// replied: the acceptor's side of the connection.
func (ep *endpoint) replied(m *wire.Message) {
	if ep.state == connecting && m.Yours == ep.qp.Num() {
		if err := ep.connect(m); err != nil {
			ep.lost(ep.wrap("dial", nil, err))
			return
		}
		ep.call.hush()
		ep.note(life.Connected)
		ep.soil()
		msg := ep.call.message(wire.Ready)
		ep.p.tell(ep.call.to, &msg)
		ep.sink.Connected()
		return
	}
	if ep.state == up || ep.state == quiesced { // it did not hear that we are
		msg := ep.call.message(wire.Ready)
		ep.p.tell(ep.call.to, &msg)
	}
}

// established: the dialer has got the reply.
func (ep *endpoint) established() {
	if ep.state != accepting {
		return
	}
	ep.call.hush()
	ep.p.halfOpen--
	ep.note(life.Connected)
	l := ep.p.listener
	if l == nil {
		ep.Close()
		return
	}
	sink, o := l.acceptor.Accepted(ep)
	err := ep.f.o.protects(o)
	if err != nil {
		ep.f.env.Log.Error("a connection is refused", "err", ep.wrap("accept", nil, err))
	}
	if sink == nil {
		ep.Close()
	}
	if ep.state != closed {
		ep.sink = sink
		ep.setWindow(o)
		ep.soil()
		if err != nil {
			ep.fail("accept", err)
		}
	}
}

func (ep *endpoint) rejected(m *wire.Message) {
	if ep.state != connecting {
		return
	}
	var kind error // only of what may be otherwise soon: that is tried again
	err := fmt.Errorf("rejected for reason %d", m.Reason)
	switch m.Reason {
	case wire.ReasonNobody:
		err = errNobody
	case wire.ReasonFull:
		kind, err = transport.ErrReset, errFull
	case wire.ReasonTerms:
		err = errTerms
	}
	ep.told = true
	ep.lost(ep.wrap("dial", kind, err))
}

// bye tells the peer that the connection has ended, unless it said so first.
func (ep *endpoint) bye() {
	ep.call.hush()
	if !ep.told && ep.call.timer != nil {
		ep.told = true
		ep.p.farewells.Say(ep.call.to, ep.call.message(wire.Leave))
	}
}
