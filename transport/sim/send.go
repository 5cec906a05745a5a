package sim

import (
	"time"

	"github.com/openbraid/braid/transport"
)

// Post implements transport.Endpoint.
func (ep *endpoint) Post(f *transport.Frame) transport.Status {
	if ep.life >= lost || ep.led.Held() || ep.deaf {
		return transport.Failed
	}
	ep.mayBe(f)
	if f.Class == transport.Control {
		return ep.postControl(f)
	}
	if !ep.hasRoom(f.Len()) || ep.stingy() {
		ep.need = f.Len()
		return transport.NoResource
	}
	ep.granted = false
	ep.net.note(PostedData, ep, ep.led.Posted(), f.Len())
	return ep.keep(f)
}

// mayBe panics for what an engine must not post.
func (ep *endpoint) mayBe(f *transport.Frame) {
	limit := ep.maxFrame
	if limit == 0 {
		limit = transport.HelloMax
	}
	tooEarly := f.Class == transport.Data && ep.maxFrame == 0
	if f.ID == 0 || tooEarly || len(f.Head) > ep.net.cfg.MaxHead || f.Len() > limit {
		panic(transport.ErrFrame)
	}
}

// hasRoom: within the window, or alone.
func (ep *endpoint) hasRoom(size int) bool {
	return ep.led.Len() == 0 || ep.led.Bytes()+uint64(size) <= uint64(ep.window)
}

// stingy refuses now and then, as a device whose queue is full.
func (ep *endpoint) stingy() bool {
	n := ep.net
	if n.now < ep.roomAt {
		return true
	}
	if n.cfg.Stingy == 0 || ep.granted || !n.luck.oneIn(n.cfg.Stingy) {
		return false
	}
	ep.roomAt = n.now + 1 + n.luck.upTo(20*time.Microsecond)
	n.wakeAt(ep.roomAt, ep)
	return true
}

// keep puts a data frame into the books.
func (ep *endpoint) keep(f *transport.Frame) transport.Status {
	pl := len(f.Payload)
	zero := f.ZeroCopy && pl > 0 && (pl >= ep.net.cfg.ZeroCopy || !ep.net.cfg.Calm && ep.net.luck.oneIn(2))
	index := ep.led.Posted()
	e := ep.led.Push(f)
	size := len(f.Head)
	if !zero {
		size += pl
		e.ZeroCopy, e.Unsent = false, false
	}
	e.Mem = ep.net.pool.get(size)
	h := copy(e.Mem.Bytes, f.Head)
	e.Head = e.Mem.Bytes[:h:h]
	if zero {
		ep.remember(index, f.Payload)
		return transport.Pending
	}
	e.Payload = e.Mem.Bytes[h:size:size]
	copy(e.Payload, f.Payload)
	return transport.Done
}

func (ep *endpoint) postControl(f *transport.Frame) transport.Status {
	if len(ep.control) >= controlRoom {
		ep.needCtl = true
		return transport.NoResource
	}
	ep.net.note(PostedControl, ep, 0, f.Len())
	it := ep.pack(f.Head, f.Payload)
	it.kind, it.id, it.ackNow = itemControl, f.ID, f.AckNow
	ep.control = append(ep.control, it)
	return transport.Done
}

// pack copies a frame's bytes into a buffer of the wire.
func (ep *endpoint) pack(head, payload []byte) item {
	b := ep.net.pool.get(len(head) + len(payload))
	h := copy(b.Bytes, head)
	copy(b.Bytes[h:], payload)
	return item{buf: b, head: h, size: h + len(payload)}
}

// flush lets what was posted so far leave.
func (ep *endpoint) flush() {
	if ep.life >= lost {
		return
	}
	ep.flushed = ep.led.Posted()
	ep.controlFlushed = len(ep.control)
	ep.ask, ep.askAck = ep.ask || ep.askAck, false
	if ep.pumpAt == 0 {
		ep.pump()
	}
	ep.acknowledge()
}

// pump is the device: it takes control frames and then data, as far as it likes, and comes back for the rest.
func (ep *endpoint) pump() {
	if ep.life != up {
		return
	}
	n := ep.net
	for ep.controlFlushed > 0 || ep.sent < ep.flushed && !ep.led.Held() {
		if wait := ep.out.busy - n.now; wait > 50*time.Microsecond {
			ep.pumpLater(wait - 25*time.Microsecond)
			return
		}
		if !n.cfg.Calm && n.luck.oneIn(8) {
			ep.pumpLater(1 + n.luck.upTo(15*time.Microsecond))
			return
		}
		if ep.controlFlushed > 0 {
			ep.sendControl(1)
		} else {
			ep.sendData()
		}
	}
	if ep.ask {
		ep.ask = false
		n.send(ep, item{kind: itemAck, ackNow: true, ack: ep.tellPosition(len(ep.control))})
	}
	ep.acknowledge() // it may have waited for what was to be said before
}

func (ep *endpoint) pumpLater(d time.Duration) {
	ep.pumpAt = ep.net.now + d
	ep.net.schedule(event{at: ep.pumpAt, kind: pump, ep: ep})
}

// sendControl puts the oldest k control frames on the wire.
func (ep *endpoint) sendControl(k int) {
	for i := range k {
		it := ep.control[i]
		it.ack = ep.tellPosition(len(ep.control) - i - 1)
		ep.net.send(ep, it)
	}
	rest := copy(ep.control, ep.control[k:])
	clear(ep.control[rest:])
	ep.control = ep.control[:rest]
	ep.controlFlushed -= k
}

func (ep *endpoint) dropControl() {
	for i := range ep.control {
		ep.control[i].buf.Release()
	}
	clear(ep.control)
	ep.control, ep.controlFlushed = ep.control[:0], 0
}

// sendData puts the next data frame on the wire: here a zero-copy payload is read.
func (ep *endpoint) sendData() {
	e := ep.led.At(ep.sent)
	it := ep.pack(e.Head, e.Payload)
	ep.lent = ep.lent || e.ZeroCopy && ep.retain // the poster waits for his memory
	it.kind, it.id, it.ackNow, it.index = itemData, e.ID, e.AckNow, ep.sent
	if ep.lent && ep.sent+1 == ep.flushed {
		it.ackNow, ep.lent = true, false
	}
	it.ack = ep.tellPosition(len(ep.control))
	ep.net.note(WentOut, ep, ep.sent, int(checksum(uint64(it.size), it.buf.Bytes[:min(it.size, 64)])>>1))
	ep.sent++
	ep.net.send(ep, it)
}

// tellPosition is the acknowledgement that rides on a frame: often the newest, sometimes an old one. It is no new one while control
// frames wait behind: they may be about what it would cover.
func (ep *endpoint) tellPosition(behind int) uint64 {
	if ep.life == up && behind == 0 && ep.net.maybe(2) {
		ep.ackSent, ep.ackDue, ep.ackBytes = ep.accepted, 0, 0
	}
	return ep.ackSent
}

// letGo frees what the device has taken, for endpoints without retention. From Progress only: it says Sent.
func (ep *endpoint) letGo() int {
	count := 0
	for ep.free = max(ep.free, ep.led.Acked()); !ep.retain && ep.free < ep.sent && !ep.led.Held(); count++ {
		i := ep.free
		ep.free++
		ep.same(i)
		ep.led.Release(ep.led.At(i))
	}
	return count
}

// RequestAck implements transport.Endpoint.
func (ep *endpoint) RequestAck() { ep.askAck = true }
