package tcp

import (
	"fmt"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

// maxOutstanding frames, however small they are: each costs an entry in the books.
const maxOutstanding = 16 << 10

// endpoint is one connection.
type endpoint struct {
	f      *iface
	sink   transport.Sink
	stream transport.Stream // nil when the connection is gone
	state  state

	local, remote string
	window        uint64
	lim           limits // what is taken and posted
	retain        bool

	led  ledger.Ledger
	out  outbox
	in   inbox
	acks ledger.Acks[*endpoint] // owed
	poll polling

	starved bool  // Post said NoResource: Room is owed
	dirty   bool  // in iface.dirty
	later   bool  // in iface.later
	failing error // the connection can't go on; OnError is owed
}

// polling is how an endpoint is watched.
type polling struct {
	interest poll.Interest
	muted    bool
	futile   int // times in a row that it was ready and had nothing
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
		panic(fmt.Errorf("tcp: Admit(%d), the most is %d: %w", limit, maxFrame, transport.ErrFrame))
	}
	ep.lim = limits{frame: uint32(limit), data: true}
	ep.retain = retain
}

// RequestAck implements transport.Endpoint.
func (ep *endpoint) RequestAck() {
	if ep.writes() {
		ep.out.wanted = true
		ep.soil()
	}
}

// Counts implements transport.Endpoint.
func (ep *endpoint) Counts() transport.Counts {
	c := transport.Counts{Accepted: ep.in.accepted, AcceptedBytes: ep.in.acceptedBytes}
	ep.led.Counts(&c)
	return c
}

// Reached implements transport.Endpoint.
func (ep *endpoint) Reached() uint64 {
	if ep.stream == nil {
		return 0
	}
	return ep.stream.Reached()
}

// Quiesce implements transport.Endpoint.
func (ep *endpoint) Quiesce() {
	was := ep.state
	ep.note(evQuiesce)
	ep.led.Hold()
	ep.in.accept() // called from inside Frame: the sink has this frame, so it counts
	if was == quiesced || was == closed || ep.stream == nil {
		return
	}
	ep.silence()
	if was == connecting || ep.failing != nil || ep.stream.Shutdown() != nil {
		ep.hangUp(false) // nothing more can come
		return
	}
	ep.in.abandon()
	ep.watch()
}

// Position implements transport.Endpoint.
func (ep *endpoint) Position() uint64 { return ep.in.accepted }

// PurgeOutstanding implements transport.Endpoint.
func (ep *endpoint) PurgeOutstanding(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	r, err := ep.led.Purge(position, fn)
	ep.settle()
	return r, err
}

// Cancel implements transport.Endpoint.
func (ep *endpoint) Cancel(err error) {
	ep.led.Hold()
	ep.silence()
	ep.watch()
	ep.led.Cancel(err)
	ep.settle()
}

// Unplace implements transport.Endpoint.
func (ep *endpoint) Unplace() { ep.in.unplace() }

// Detach implements transport.Endpoint. What waits to be written is looked up in the books, so it follows.
func (ep *endpoint) Detach(match func(transport.Completer) bool) { ep.led.Detach(match) }

// Close implements transport.Endpoint.
func (ep *endpoint) Close() {
	if ep.state == closed {
		return
	}
	ep.note(evClose)
	ep.f.gone++
	ep.hangUp(false)
	ep.led.Cancel(transport.ErrClosed)
	ep.settle()
}

// Local implements transport.Endpoint.
func (ep *endpoint) Local() string { return ep.local }

// Remote implements transport.Endpoint.
func (ep *endpoint) Remote() string { return ep.remote }

// fail remembers why the connection can't go on; Progress reads what is left, then tells.
func (ep *endpoint) fail(op string, err error) {
	if ep.failing == nil {
		ep.failing = ep.wrap(op, err)
		ep.postpone()
	}
}

// broke tells the sink, once, and lets it decide about the frames.
func (ep *endpoint) broke(err error) {
	ep.note(evBroke)
	ep.led.Hold()
	ep.hangUp(false)
	if ep.state == quiesced {
		return // the engine gave it up before: no news
	}
	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {
		ep.led.Cancel(err)
		ep.settle()
	}
}

// hangUp ends the connection and gives back what it needed. The books stay.
func (ep *endpoint) hangUp(reset bool) {
	ep.silence()
	ep.in.drop()
	ep.acks.Forgive(&ep.f.owing)
	if ep.stream == nil {
		return
	}
	fd := ep.stream.FD()
	stream := ep.stream
	ep.stream = nil
	ep.unwatch(fd)
	_ = stream.Close(reset)
}

// silence drops what is not written yet. No byte goes out after it.
func (ep *endpoint) silence() {
	ep.out.drop()
	ep.acks.Forgive(&ep.f.owing)
}

// settle gives the chunk back when no frame is in it any more.
func (ep *endpoint) settle() {
	if ep.led.Len() == 0 && ep.out.chunk != nil {
		ep.out.chunk.Release()
		ep.out.chunk = nil
	}
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

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool { return ep.acks.Owes(ep.in.accepted) && ep.state == up && ep.writes() }

// writes says whether bytes may still go out.
func (ep *endpoint) writes() bool {
	return ep.state <= up && ep.failing == nil && !ep.led.Held()
}
