//go:build linux

package shm

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// Quiesce implements transport.Endpoint.
func (ep *endpoint) Quiesce() {
	was := ep.state
	ep.note(evQuiesce)
	ep.led.Hold()
	ep.recv.accept() // called from inside Frame: the sink has this frame, so it counts
	if was == quiesced || was == closed || ep.seg == nil {
		return
	}
	ep.endLoans()
	ep.silence()
	if ep.fault&Hide == 0 && (was == connecting || ep.failing != nil || unix.Shutdown(ep.fd, unix.SHUT_WR) != nil) {
		ep.hangUp() // nothing more can come
		return
	}
	ep.recv.data.Drop()
}

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
	ep.led.Cancel(err)
	ep.settle()
}

// Unplace implements transport.Endpoint.
func (ep *endpoint) Unplace() { ep.recv.data.Unplace() }

// Close implements transport.Endpoint.
func (ep *endpoint) Close() {
	if ep.state == closed {
		return
	}
	ep.note(evClose)
	ep.hangUp()
	ep.led.Cancel(transport.ErrClosed)
	ep.settle()
}

// fail remembers why the connection can't go on; Progress reads what is left, then tells.
func (ep *endpoint) fail(op string, err error) {
	if ep.failing == nil {
		ep.failing = ep.wrap(op, err)
		ep.postpone()
	}
}

// broke tells the sink, once, and lets it decide about the frames.
func (ep *endpoint) broke(err error) {
	if ep.settleHeard(); ep.state == closed {
		return // by who was told
	}
	ep.note(evBroke)
	ep.led.Hold()
	ep.hangUp()
	if ep.state == quiesced {
		return // the engine gave it up before: no news
	}
	if ep.sink.OnError(err) == transport.Complete && ep.state != closed {
		ep.led.Cancel(err)
		ep.settle()
	}
}

// hangUp ends the connection and gives back what it needed. The books stay.
func (ep *endpoint) hangUp() {
	ep.silence()
	ep.recv.drop()
	ep.endLoans()
	if ep.fd >= 0 {
		ep.f.unwatch(ep.fd)
		if !ep.lent.End(ep.f.desk, ep.fd) {
			unix.Close(ep.fd)
		}
		ep.fd = -1
	}
	if !ep.lies {
		ep.rise(false) // it is not counted any more
	}
	if ep.seg != nil {
		ep.f.budget.Give(ep.peer, len(ep.seg.Bytes()))
		ep.seg.Close()
		ep.seg, ep.out, ep.in = nil, nil, nil
	}
}

// silence drops what is not in the ring yet. No frame goes out after it.
func (ep *endpoint) silence() {
	ep.send.drop()
	ep.withdraw()
	ep.acks.Now, ep.blocked = false, false
	if ep.seg != nil && ep.fd >= 0 && ep.fault&Mute == 0 {
		ep.rouse() // for what is
	}
}

// settle gives the chunk back when no frame is in it any more; who polls keeps it for the next one.
func (ep *endpoint) settle() {
	switch {
	case ep.led.Len() > 0:
	case ep.f.turn.watched || !ep.writes():
		ep.send.keep.Release()
	default:
		ep.send.keep.Reuse()
	}
}

// wrap says between whom an error happened and what kind it is.
func (ep *endpoint) wrap(op string, err error) error {
	e := newError(Error{Op: op, Local: ep.local, Remote: ep.remote, Err: err})
	switch {
	case errors.Is(err, transport.ErrProtocol):
		e.Kind = transport.ErrProtocol
	case err == errGone:
		e.Kind = transport.ErrPeerClosed
	case op != "dial" || err == unix.EAGAIN:
		e.Kind = transport.ErrReset
	}
	return e
}
