package sim

import (
	"strconv"
	"time"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
)

// life is the state of an endpoint.
//
//	dialing ──┐
//	          ├──> up ──> lost ──> quiesced ──> closed
//	waiting ──┘     (any state may go right, over others)
//
// dialing: the connection does not stand yet. waiting: it stands, but its acceptor was not told. lost: the
// owner had OnError. It is written by note alone.
type life uint8

const (
	dialing life = iota
	waiting
	up
	lost
	quiesced
	closed
)

// endpoint is one side of one connection.
type endpoint struct {
	net   *Net
	iface *Iface
	id    uint32
	sink  transport.Sink
	rail  *rail
	peer  *endpoint // nil until a dial has reached the other side

	local, remote string
	life          life
	connectAt     time.Duration // dialing: when Connected is due; 0 unknown
	lostKnock     bool          // dialing: the dial was cut, nothing will come of it
	failAt        time.Duration // when OnError is due; 0 never
	failErr       error

	sender
	receiver
}

// sender is the outgoing half.
type sender struct {
	out      pipe
	led      ledger.Ledger
	sums     []uint64 // checksums of zero-copy payloads, by index
	window   int
	maxFrame int  // 0: not admitted
	retain   bool //
	sent     uint64
	flushed  uint64 // data frames before it may leave
	free     uint64 // without retention: frames before it were let go

	control        []item // not yet on the wire
	controlFlushed int
	askAck, ask    bool // an acknowledgement is asked for: since Flush, before it
	lent           bool // zero-copy payloads went out, and their acknowledgement is not asked for
	pumpAt         time.Duration

	need    int // size of the data frame that found no room; -1 none
	needCtl bool
	roomAt  time.Duration // a stingy refusal ends
	granted bool          // Room was called: the next post is taken
}

// receiver is the incoming half.
type receiver struct {
	accepted, acceptedBytes uint64
	ackSent                 uint64
	ackBytes                uint64        // accepted since
	ackDue                  time.Duration // 0: none owed
	deaf                    bool          // nothing more is read: the peer broke the rules
}

const controlRoom = 64 // control frames of an endpoint that are not on the wire

func (n *Net) newEndpoint(i *Iface, r *rail, l life, o transport.Options) *endpoint {
	n.ids++
	ep := &endpoint{net: n, iface: i, id: n.ids, rail: r, life: l}
	ep.setWindow(o)
	ep.need = -1
	n.endpoints = append(n.endpoints, ep)
	i.endpoints = append(i.endpoints, ep)
	return ep
}

func (ep *endpoint) setWindow(o transport.Options) {
	if ep.window = o.Window; ep.window <= 0 {
		ep.window = ep.net.cfg.Window
	}
}

// Local implements transport.Endpoint.
func (ep *endpoint) Local() string { return ep.local }

// Remote implements transport.Endpoint.
func (ep *endpoint) Remote() string { return ep.remote }

// Admit implements transport.Endpoint.
func (ep *endpoint) Admit(maxFrame int, retain bool) {
	ep.maxFrame, ep.retain = min(maxFrame, ep.net.cfg.MaxFrame), retain
}

// Reached implements transport.Endpoint: nobody can tell.
func (*endpoint) Reached() uint64 { return 0 }

// Counts implements transport.Endpoint.
func (ep *endpoint) Counts() transport.Counts {
	c := transport.Counts{Accepted: ep.accepted, AcceptedBytes: ep.acceptedBytes}
	ep.led.Counts(&c)
	return c
}

// Position implements transport.Endpoint.
func (ep *endpoint) Position() uint64 { return ep.accepted }

// Quiesce implements transport.Endpoint.
func (ep *endpoint) Quiesce() {
	if ep.life >= quiesced {
		return
	}
	ep.net.note(QuiescedThere, ep, ep.accepted, 0)
	ep.led.Hold()
	ep.hangUp()
	ep.life = quiesced
}

// hangUp ends our direction, so that the peer notices.
func (ep *endpoint) hangUp() {
	if ep.controlFlushed > 0 && ep.life != dialing && ep.net.maybe(2) {
		ep.sendControl(ep.controlFlushed)
	}
	ep.dropControl()
	ep.ackDue, ep.failAt = 0, 0
	ep.net.breakOff(ep, false)
	if ep.peer != nil && !ep.out.silent {
		ep.peer.fails(transport.ErrPeerClosed, ep.net.cfg.Notice)
	}
}

// fails lets ep notice an error within the time.
func (ep *endpoint) fails(err error, within time.Duration) {
	if ep.life >= lost || ep.failAt != 0 {
		return
	}
	ep.failErr = err
	if ep.net.cfg.Steered && ep.life == up {
		ep.failAt = never
		return
	}
	ep.failAt = ep.net.now + 1 + ep.net.luck.upTo(within)
	if ep.net.cfg.Calm { // right behind what is in flight
		ep.failAt = ep.net.now + ep.net.cfg.Link.Latency
		if ep.peer != nil {
			ep.failAt = max(ep.failAt, ep.peer.out.last)
		}
	}
	ep.net.wakeAt(ep.failAt, ep)
}

// PurgeOutstanding implements transport.Endpoint.
func (ep *endpoint) PurgeOutstanding(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	if !ep.led.Held() {
		return transport.PurgeResult{}, transport.ErrNotHeld
	}
	ep.net.note(PurgedThere, ep, position, ep.led.Len())
	ep.unchanged(ep.led.Posted())
	return ep.led.Purge(position, fn)
}

// Cancel implements transport.Endpoint.
func (ep *endpoint) Cancel(err error) {
	ep.net.note(CanceledThere, ep, ep.led.Acked(), ep.led.Len())
	ep.unchanged(ep.led.Posted())
	ep.led.Cancel(err)
}

// Unplace implements transport.Endpoint.
func (ep *endpoint) Unplace() {
	if ep.peer != nil && ep.peer.out.len() > 0 {
		ep.peer.out.front().place = nil // all of it is in the network's own memory too
	}
}

// Detach implements transport.Endpoint.
func (ep *endpoint) Detach(match func(transport.Completer) bool) {
	ep.unchanged(ep.led.Posted())
	ep.led.Detach(match)
}

// Close implements transport.Endpoint.
func (ep *endpoint) Close() {
	if ep.life == closed {
		return
	}
	n := ep.net
	n.note(ClosedThere, ep, ep.accepted, ep.led.Len())
	if ep.life != quiesced {
		ep.hangUp()
	}
	if ep.peer != nil { // what it still sends goes nowhere
		ep.peer.out.broken = true
		ep.peer.out.keep(0)
	}
	ep.bury()
	ep.unchanged(ep.led.Posted())
	ep.led.Cancel(transport.ErrClosed)
}

// bury takes ep off the lists.
func (ep *endpoint) bury() {
	ep.life = closed
	ep.iface.gone = true
	all := ep.net.endpoints
	for i := range all {
		if all[i] == ep {
			ep.net.endpoints = append(all[:i], all[i+1:]...)
			return
		}
	}
}

// address makes "rail:port" with a fresh port.
func (n *Net) address(r *rail) string {
	n.port++
	return r.name + ":" + strconv.Itoa(n.port)
}
