package self

import (
	"fmt"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
)

// endpoint is one end of a connection; peer is the other one.
type endpoint struct {
	f     *iface
	peer  *endpoint
	sink  transport.Sink
	state state
	lim   limits

	led ledger.Ledger // what was posted here; the peer takes it from there
	in  inbox         // control frames of the peer
	received

	listed bool // in iface.ready
	starving
	window uint64
	gone   error // the peer ended the connection: OnError is owed

	local, remote string
	at            int // in iface.eps
}

// limits are what is taken and posted.
type limits struct {
	frame int
	data  bool
}

// received counts the peer's data frames. The next one is number accepted of the peer's books.
type received struct{ accepted, acceptedBytes uint64 }

// starving is what a post said NoResource to: Room is owed.
type starving struct {
	need    int // size of the data frame; -1 none
	control bool
}

func (ep *endpoint) setWindow(o transport.Options) {
	ep.window = defaultWindow
	if o.Window > 0 {
		ep.window = uint64(o.Window)
	}
}

// list gives the endpoint a turn.
func (ep *endpoint) list() {
	if !ep.listed {
		ep.listed = true
		ep.f.ready = append(ep.f.ready, ep)
	}
}

// Admit implements transport.Endpoint. Frames are kept until acknowledged in any case: that is the next turn.
func (ep *endpoint) Admit(limit int, _ bool) {
	if limit < 0 || limit > maxFrame {
		panic(fmt.Errorf("self: Admit(%d), the most is %d: %w", limit, maxFrame, transport.ErrFrame))
	}
	ep.lim = limits{frame: limit, data: true}
}

// RequestAck implements transport.Endpoint. Each turn acknowledges; nobody needs to be asked.
func (ep *endpoint) RequestAck() {}

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
	was := ep.state
	ep.note(evQuiesce)
	ep.led.Hold()
	if was < broken {
		ep.leave(transport.ErrPeerClosed)
	}
}

// leave tells the peer that nothing comes any more.
func (ep *endpoint) leave(why error) {
	p := ep.peer
	switch p.state {
	case waiting: // nobody knows it yet
		p.note(evClose)
		p.in.drop(ep.f.pool)
	case connecting, up:
		p.gone = why
		p.list()
		ep.f.Flush() // nobody may come to call it
	case broken, quiesced, closed:
	}
}

// PurgeOutstanding implements transport.Endpoint.
func (ep *endpoint) PurgeOutstanding(position uint64, fn func(f *transport.Frame) error) (transport.PurgeResult, error) {
	return ep.led.Purge(position, fn)
}

// Cancel implements transport.Endpoint.
func (ep *endpoint) Cancel(err error) { ep.led.Cancel(err) }

// Unplace implements transport.Endpoint. A frame is placed and handed over in one step, so there never is half a one.
func (ep *endpoint) Unplace() {}

// Detach implements transport.Endpoint.
func (ep *endpoint) Detach(match func(transport.Completer) bool) { ep.led.Detach(match) }

// Close implements transport.Endpoint.
func (ep *endpoint) Close() {
	if ep.state == closed {
		return
	}
	was := ep.state
	ep.note(evClose)
	ep.f.forget(ep)
	ep.in.drop(ep.f.pool)
	if was < broken {
		ep.leave(transport.ErrPeerClosed)
	}
	ep.led.Cancel(transport.ErrClosed)
}

// broke tells the sink, once, and lets it decide about the frames.
func (ep *endpoint) broke(op string, cause error) {
	err := &Error{Op: op, Local: ep.local, Remote: ep.remote, Err: cause}
	ep.note(evBroke)
	ep.led.Hold()
	ep.in.drop(ep.f.pool)
	ep.leave(transport.ErrReset)
	if ep.sink.OnError(err) == transport.Complete {
		ep.led.Cancel(err)
	}
}

// Local implements transport.Endpoint.
func (ep *endpoint) Local() string { return ep.local }

// Remote implements transport.Endpoint.
func (ep *endpoint) Remote() string { return ep.remote }
