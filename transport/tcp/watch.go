package tcp

import (
	"errors"
	"io"
	"slices"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

// mutedAfter: a descriptor that was ready so often and had nothing isn't watched any more. Only a stream with a fault
// in front of it does that: its socket has bytes, and it doesn't give them.
const mutedAfter = 2

// watch makes the system watch for what the endpoint waits for now.
func (ep *endpoint) watch() {
	want := poll.None
	switch {
	case ep.stream == nil || ep.poll.muted:
	case ep.state == connecting:
		want = poll.Writable
	default:
		if !ep.f.unwatched {
			want = poll.Readable
		}
		if ep.out.blocked {
			want |= poll.Writable
		}
	}
	if ep.stream != nil {
		ep.watchFor(ep.stream.FD(), want)
	}
}

func (ep *endpoint) unwatch(fd int) {
	if ep.poll.muted {
		ep.unmute()
	}
	ep.watchFor(fd, poll.None)
}

func (ep *endpoint) watchFor(fd int, want poll.Interest) {
	was := ep.poll.interest
	ep.f.writers += int(want&poll.Writable>>1) - int(was&poll.Writable>>1)
	ep.poll.interest = want
	if err := ep.f.watch(fd, was, want, watched{ep: ep}); err != nil && want != poll.None {
		ep.poll.interest = poll.None
		ep.f.writers -= int(want & poll.Writable >> 1)
		ep.mute() // it still works, polled by hand
	}
}

func (ep *endpoint) mute() {
	ep.poll.muted = true
	ep.f.muted = append(ep.f.muted, ep)
	ep.watch()
}

func (ep *endpoint) unmute() {
	ep.poll.muted, ep.poll.futile = false, 0
	ep.f.muted = slices.DeleteFunc(ep.f.muted, func(x *endpoint) bool { return x == ep })
}

// fired: the system says that the endpoint is ready.
func (ep *endpoint) fired(what poll.Interest) int {
	n, moved := ep.attempt(what)
	switch {
	case moved:
		ep.poll.futile = 0
	case ep.stream != nil && !ep.poll.muted:
		if ep.poll.futile++; ep.poll.futile >= mutedAfter {
			ep.mute()
		}
	}
	return n
}

// attempt does what an endpoint that is said to be ready can do now.
func (ep *endpoint) attempt(what poll.Interest) (n int, moved bool) {
	if ep.stream == nil {
		return 0, false
	}
	if ep.state == connecting {
		n = ep.connect()
		return n, n > 0
	}
	if what&poll.Writable != 0 && ep.out.blocked {
		// write at once: only that shows whether there really is room
		ep.out.blocked = false
		if ep.flush(); !ep.out.blocked || ep.out.progress {
			n, moved = 1, true
			ep.soil() // an acknowledgement may be due
		}
		ep.watch()
	}
	if what&poll.Readable != 0 && ep.stream != nil {
		k := ep.receive()
		n += k
		moved = moved || k > 0
	}
	if moved && ep.poll.muted {
		ep.unmute()
		ep.watch()
	}
	return n, moved
}

// connect asks what became of a dial.
func (ep *endpoint) connect() int {
	switch err := ep.stream.Connected(); {
	case err == transport.ErrAgain:
		return 0
	case err != nil:
		ep.broke(ep.wrap("dial", err))
		return 1
	}
	ep.note(evConnected)
	if ep.poll.muted {
		ep.unmute()
	}
	ep.watch()
	ep.soil() // what was posted meanwhile
	ep.sink.Connected()
	return 1
}

// leftovers is what Progress does for an endpoint because others must not.
func (ep *endpoint) leftovers() (n int) {
	if ep.stream != nil && ep.failing != nil {
		if ep.state == connecting {
			ep.broke(ep.failing)
			return 1
		}
		if n = ep.receive(); n > 0 && ep.stream != nil {
			ep.postpone() // the peer said more before the end: take it first
			return n
		}
		if ep.stream != nil {
			ep.broke(ep.failing)
			return n + 1
		}
	}
	return n + ep.letGo() + ep.room()
}

// room calls the sink if it waits for room and there is some.
func (ep *endpoint) room() int {
	if !ep.starved || !ep.writes() || 2*ep.led.Bytes() > ep.window ||
		2*ep.led.Len() > maxOutstanding || 2*ep.out.controlLen() > maxControl {
		return 0
	}
	ep.starved = false
	ep.sink.Room()
	return 1
}

// wrap says between whom an error happened and what kind it is.
func (ep *endpoint) wrap(op string, err error) error {
	e := newError(Error{Op: op, Local: ep.local, Remote: ep.remote, Err: err})
	switch {
	case errors.Is(err, transport.ErrProtocol):
		e.Kind = transport.ErrProtocol
	case err == io.EOF:
		e.Kind, e.Err = transport.ErrPeerClosed, nil // io.EOF in an error says that all has come
	case op != "dial":
		e.Kind = transport.ErrReset
	}
	return e
}
