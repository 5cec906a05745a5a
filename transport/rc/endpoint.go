package rc

import (
	"fmt"
	"time"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/life"
	"github.com/openbraid/braid/transport/rc/outbox"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

const (
	// A peer that keeps to its credits always finds a receive, so these are for peers that don't.
	rnrRetry = 6
	rnrTimer = 12 // code: 640 µs

	// lingerFor is how long the queue pair of an endpoint that was closed may still deliver what was posted before.
	lingerFor = 100 * time.Millisecond
)

const connecting, accepting, up, broken, quiesced, closed = life.Connecting, life.Accepting, life.Up, life.Broken, life.Quiesced, life.Closed

// endpoint is one connection.
type endpoint struct {
	f     *iface
	p     *port
	sink  transport.Sink
	state life.State

	local, remote string
	window        uint64
	lim           wire.Limits
	retain        bool

	led   ledger.Ledger
	pair                         // the queue pair and its books
	call  call                   // how it came to be
	out   outbox.Box             // to be sent
	in    inbox                  // arrived
	reads reading                // offered, and what came behind it
	acks  ledger.Acks[*endpoint] // owed

	wants
}

// wants are what others are to do for the endpoint.
type wants struct {
	starved bool // Post said NoResource: Room is owed
	dirty   bool // in iface.dirty
	later   bool // in iface.later
	inLine  bool // in port.credits.line
	told    bool // the peer knows of the end, or is being told
	failing error
	linger  *timer.Timer
}

// pair is a queue pair, and what is posted to it.
type pair struct {
	qp    rdma.QP // nil when it is destroyed
	psn   uint32  // of our first packet
	slot  uint32  // in port.eps
	ring  queue.Ring
	heads *queue.Block   // headers of segments, one for each work request of the ring
	recvs []*queue.Block // by the number of the receive
	bank  *queue.Bank
	spent []uint16 // receives that are to be posted again
	flow  flow
}

// flow is who may send how much: segments, counted since the beginning, with 32 bits that wrap.
type flow struct {
	sent, limit  uint32 // ours, and how many the peer has receives for
	posted, told uint32 // receives, and how many the peer knows of
	taken        uint32 // segments that came
}

// left is how many segments may be sent.
func (w *flow) left() int32 { return int32(w.limit - w.sent) }

// endpoint makes one with its queue pair.
func (p *port) endpoint(s life.State, o transport.Options) (*endpoint, error) {
	ep := &endpoint{f: p.f, p: p, state: s, local: p.addr.String(), lim: wire.Limits{Frame: transport.HelloMax}}
	ep.out.Memory, ep.out.Books, ep.out.Keys, ep.out.Owner = &p.mem, &ep.led, p.keys, ep
	ep.setWindow(o)
	if err := ep.make(); err != nil {
		ep.unmake()
		return nil, err
	}
	ep.slot = p.slot(ep)
	if err := ep.receives(wire.MinReceives); err != nil {
		p.release(ep)
		ep.unmake()
		return nil, err
	}
	ep.flow.told = ep.flow.posted
	return ep, nil
}

// make makes the queue pair.
func (ep *endpoint) make() (err error) {
	p, o := ep.p, &ep.f.o
	if ep.bank, err = p.recvs.Find(o.Receives); err != nil {
		return err
	}
	p.armed = false // it may be a new one
	if ep.heads, err = p.mem.Get(sendRing * wire.SegmentLen); err != nil {
		return err
	}
	a := p.dev.Attr()
	blocks := min(sendRing*a.MaxWRBlocks, a.MaxSendBlocks)
	ep.qp, err = p.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: p.send, RecvCQ: ep.bank.CQ, Cap: rdma.QPCap{
		SendBlocks: blocks, RecvWR: o.Receives, SendSGE: 2, RecvSGE: 1, Inline: p.can.inline,
	}})
	if err != nil {
		return err
	}
	ep.ring = queue.NewRing(blocks, sendRing, o.startAt)
	if ep.psn = o.startPSN; ep.psn == 0 {
		ep.psn = uint32(ep.f.env.Rand()) & rdma.MaxNum
	}
	var access rdma.Access
	if o.readFrom() > 0 {
		access = rdma.AccessRemoteRead
	}
	return ep.qp.Modify(rdma.QPAttr{State: rdma.Init, Access: access}, rdma.MaskAccess)
}

// unmake destroys the queue pair: from now on the device names nothing of ours.
func (ep *endpoint) unmake() {
	p := ep.p
	if ep.qp != nil {
		_ = ep.qp.Destroy()
		ep.qp = nil
		e := ep.ring.Drop()
		p.credits.Keep(e.N)
		p.reads.Ended(e.Bytes)
	}
	if ep.bank != nil {
		ep.bank.Keep(ep.f.o.Receives)
		ep.bank = nil
	}
	for i, b := range ep.recvs {
		if b != nil {
			b.Release()
			ep.recvs[i] = nil
		}
	}
	ep.spent = nil
	if ep.heads != nil {
		ep.heads.Release()
		ep.heads = nil
	}
}

// setWindow takes the options of an endpoint.
func (ep *endpoint) setWindow(o transport.Options) {
	ep.window = defaultWindow
	if o.Window > 0 {
		ep.window = uint64(o.Window)
	}
}

// Admit implements transport.Endpoint.
func (ep *endpoint) Admit(limit int, retain bool) {
	if limit < 0 || limit > maxFrame {
		panic(fmt.Errorf("rc: Admit(%d), the most is %d: %w", limit, maxFrame, transport.ErrFrame))
	}
	ep.lim = wire.Limits{Frame: uint32(limit), Data: true}
	ep.retain = retain
	if ep.state == up || ep.state == connecting {
		if err := ep.receives(ep.f.o.Receives); err != nil {
			ep.fail("receive", err)
		}
		ep.soil()
	}
}

// note is the only place that writes an endpoint's state.
func (ep *endpoint) note(e life.Event) {
	if !life.Table.Note(&ep.state, e) {
		panic("rc: endpoint is " + ep.state.String() + ", can't be: " + e.String())
	}
}

// RequestAck implements transport.Endpoint.
func (ep *endpoint) RequestAck() {
	if ep.writes() {
		ep.out.Asking = true
		ep.soil()
	}
}

// Reached implements transport.Endpoint: nobody can tell.
func (*endpoint) Reached() uint64 { return 0 }

// Counts implements transport.Endpoint.
func (ep *endpoint) Counts() transport.Counts {
	c := transport.Counts{Accepted: ep.in.accepted, AcceptedBytes: ep.in.acceptedBytes}
	ep.led.Counts(&c)
	return c
}

// Quiesce implements transport.Endpoint.
func (ep *endpoint) Quiesce() {
	was := ep.state
	ep.note(life.Quiesce)
	ep.led.Hold()
	ep.in.accept() // called from inside Frame: the sink has this frame, so it counts
	if was == quiesced || was == closed {
		return
	}
	ep.halt()
	ep.in.data.abandon()
	ep.reads.drop()
}

// Opened implements window.Owner: what waits for its key may leave.
func (ep *endpoint) Opened() { ep.soil() }

// Position implements transport.Endpoint.
func (ep *endpoint) Position() uint64 { return ep.in.accepted }

// PurgeOutstanding implements transport.Endpoint.
func (ep *endpoint) PurgeOutstanding(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	r, err := ep.led.Purge(position, fn)
	ep.out.Settle()
	return r, err
}

// Cancel implements transport.Endpoint. It needs no room anywhere: what the device still has is memory of ours.
func (ep *endpoint) Cancel(err error) {
	ep.led.Hold()
	ep.silence()
	ep.led.Cancel(err)
	ep.out.Settle()
}

// Detach implements transport.Endpoint: every payload is a copy from the beginning.
func (ep *endpoint) Detach(func(transport.Completer) bool) {}

// Unplace implements transport.Endpoint.
func (ep *endpoint) Unplace() { ep.in.data.unplace() }

// Close implements transport.Endpoint. What is posted may still arrive, as the last bytes of a socket do.
func (ep *endpoint) Close() {
	was := ep.state
	if was == closed {
		return
	}
	ep.note(life.Close)
	ep.silence()
	if was == accepting {
		ep.p.halfOpen--
	}
	if was == up && ep.ring.Len() > 0 && ep.failing == nil {
		ep.linger = timer.New(ep.finish)
		ep.f.timers.Set(ep.linger, ep.f.env.Now()+lingerFor)
		ep.call.hush()
	} else {
		ep.finish()
	}
	ep.led.Cancel(transport.ErrClosed)
	ep.out.LetGoOfChunk()
	ep.in.drop()
	ep.reads.drop()
}

// finish ends what is left of a closed endpoint.
func (ep *endpoint) finish() {
	if ep.qp == nil {
		return
	}
	ep.f.timers.Stop(ep.linger)
	ep.bye()
	ep.unmake()
	ep.p.release(ep)
}

// Local implements transport.Endpoint.
func (ep *endpoint) Local() string { return ep.local }

// Remote implements transport.Endpoint.
func (ep *endpoint) Remote() string { return ep.remote }

// fail remembers why the connection can't go on; Progress tells.
func (ep *endpoint) fail(op string, err error) {
	if ep.failing == nil {
		ep.failing = ep.wrap(op, transport.ErrReset, err)
		ep.postpone()
	}
}

// lost tells the sink, once, and lets it decide about the frames. The queue pair is in ERR before.
func (ep *endpoint) lost(err error) {
	switch ep.state {
	case accepting:
		ep.Close()
		return
	case closed:
		ep.finish() // it was only delivering
		return
	case broken, quiesced:
		return
	case connecting, up:
	}
	ep.note(life.Broke)
	ep.led.Hold()
	ep.halt()
	ep.in.data.abandon()
	ep.reads.drop()
	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {
		ep.led.Cancel(err)
		ep.out.Settle()
	}
}

// halt ends the connection: nothing is sent or taken any more. What was posted is flushed; its memory comes back with that.
func (ep *endpoint) halt() {
	ep.silence()
	ep.ring.Frozen = true
	if ep.qp != nil {
		_ = ep.qp.Modify(rdma.QPAttr{State: rdma.Err}, 0)
	}
	ep.bye()
}

// silence drops what is not posted yet.
func (ep *endpoint) silence() {
	ep.out.Drop()
	ep.acks.Forgive(&ep.f.owing)
	ep.leaveLine()
}

// soil has Flush look at the endpoint.
func (ep *endpoint) soil() {
	if !ep.dirty {
		ep.dirty = true
		ep.f.dirty = append(ep.f.dirty, ep)
	}
}

// postpone has the next Progress look at the endpoint.
func (ep *endpoint) postpone() {
	if !ep.later {
		ep.later = true
		ep.f.later = append(ep.f.later, ep)
	}
}

// leftovers is what a call from outside of Progress found to do.
func (ep *endpoint) leftovers() int {
	if err := ep.failing; err != nil && ep.state <= up {
		ep.lost(err)
		return 1
	}
	return ep.room()
}

// room says that there is some, if somebody waits for it.
func (ep *endpoint) room() int {
	if !ep.starved || ep.state > up || ep.failing != nil || !ep.roomy() {
		return 0
	}
	ep.starved = false
	ep.sink.Room()
	return 1
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool { return ep.acks.Owes(ep.in.accepted) && ep.state == up && ep.writes() }

// writes says whether something may still go out.
func (ep *endpoint) writes() bool {
	return ep.state <= up && ep.failing == nil && !ep.led.Held()
}
