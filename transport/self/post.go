package self

import (
	"fmt"

	"github.com/openbraid/braid/transport"
)

// Post implements transport.Endpoint.
func (ep *endpoint) Post(f *transport.Frame) transport.Status {
	if ep.state > up || ep.led.Held() {
		return transport.Failed
	}
	size := f.Len()
	if size > ep.lim.frame || len(f.Head) > maxHead || f.ID == 0 || f.Class == transport.Data && !ep.lim.data {
		panic(fmt.Errorf("self: post of frame id %d, head %d, %d bytes, class %d; admitted is %+v: %w",
			f.ID, len(f.Head), size, f.Class, ep.lim, transport.ErrFrame))
	}
	if f.Class == transport.Control {
		return ep.postControl(f, size)
	}
	if !ep.hasRoom(size) {
		ep.need = size
		return transport.NoResource
	}
	ep.peer.list()
	return ep.keep(f)
}

// Pass implements transport.Passer: the peer takes the frame now, unless anything is before it. What is posted from inside waits for a turn, as ever.
func (ep *endpoint) Pass(f *transport.Frame) (taken, over bool) {
	p, size := ep.peer, f.Len()
	if ep.f.running || ep.state != up || p.state != up || ep.led.Held() || ep.led.Len() > 0 || ep.in.len() > 0 || p.in.len() > 0 || ep.gone != nil || p.gone != nil ||
		f.ZeroCopy || f.ID == 0 || len(f.Head) > maxHead || size > min(ep.lim.frame, p.lim.frame) || !ep.lim.data || !p.lim.data {
		return false, false
	}
	ep.keep(f)
	ep.f.running = true
	p.take(ep.led.At(p.accepted).Payload, false)
	ep.f.running = false
	if ep.state == up && !ep.led.Held() && ep.led.Len() == 1 && ep.in.len() == 0 {
		ep.led.Passed()
		return true, true
	}
	ep.list()
	return true, false
}

// hasRoom: within the window, or alone.
func (ep *endpoint) hasRoom(size int) bool {
	n := ep.led.Len()
	return n == 0 || n < maxOutstanding && ep.led.Bytes()+uint64(size) <= ep.window
}

// keep puts a data frame into the books.
func (ep *endpoint) keep(f *transport.Frame) transport.Status {
	e := ep.led.Push(f)
	h := len(f.Head)
	if f.ZeroCopy && len(f.Payload) > 0 {
		e.Mem = ep.f.pool.get(h)
		copy(e.Mem.Bytes, f.Head)
		e.Head = e.Mem.Bytes[:h:h]
		return transport.Pending
	}
	e.ZeroCopy, e.Unsent = false, false
	e.Mem = ep.f.pool.get(e.Size)
	b := e.Mem.Bytes[:e.Size:e.Size]
	copy(b, f.Head)
	copy(b[h:], f.Payload)
	e.Head, e.Payload = b[:h:h], b[h:]
	return transport.Done
}

// postControl puts a control frame where the peer finds it.
func (ep *endpoint) postControl(f *transport.Frame, size int) transport.Status {
	p := ep.peer
	if p.state == closed || p.state == broken {
		return transport.Done // it goes the way of frames that were sent into a closed connection
	}
	if !p.in.fits(size) {
		ep.starving.control = true
		return transport.NoResource
	}
	m := message{buf: ep.f.pool.get(size), head: len(f.Head), size: size, id: f.ID}
	copy(m.buf.Bytes[copy(m.buf.Bytes, f.Head):], f.Payload)
	p.in.push(m)
	p.list()
	return transport.Done
}
