//go:build linux

package shm

import (
	"fmt"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/bulk"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/frames"
	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	flagControl = 1   // not counted
	flagAckNow  = 2   // acknowledge what you have accepted, this frame too, at once
	flagMore    = 4   // a further piece of the frame before
	flagAsk     = 8   // id 0, with a key: to borrow memory
	flagRecall  = 16  // id 0, with a key: memory is not lent, or not any more
	flagAway    = 32  // the payload stands in the memory of who posted it
	flagReads   = 64  // id 0: such payloads are welcome; with a position: not any more, go back to that frame; with a key: they come from that memory
	flagResume  = 128 // id 0: gone back; with a key: that memory is here
	flagsOwn    = flagAsk | flagRecall | flagReads | flagResume

	// askEvery so many bytes of frames that are kept here an acknowledgement is asked for: their memory is used again then.
	askEvery = 128 << 10
	// maxControl is how much control frames may wait; a single larger one is taken too.
	maxControl = 16 << 20
)

// outbox is what has been posted and is not in the ring yet.
type outbox struct {
	control frames.Queue
	asking  bool // for an acknowledgement, among those

	keep  frames.Keeper
	kept  int    // bytes of frames that are kept here since an acknowledgement was asked for
	sent  uint64 // data frames that are in the ring
	begun int    // bytes of the next one that are
	bulk  bulk.Copier
	large cma.Book // frames that may be read by the peer
	letGo uint64   // frames whose memory was let go, without retention
}

// Post implements transport.Endpoint.
func (ep *endpoint) Post(f *transport.Frame) transport.Status {
	if ep.state > up || ep.led.Held() {
		return transport.Failed
	}
	size := f.Len()
	if len(f.Head) > maxHead || size > ep.lim.frame || f.ID == 0 || f.Class == transport.Data && !ep.lim.data {
		panic(fmt.Errorf("shm: post of frame id %d, head %d, %d bytes, class %d; admitted is %+v: %w",
			f.ID, len(f.Head), size, f.Class, ep.lim, transport.ErrFrame))
	}
	if f.Class == transport.Control {
		return ep.postControl(f)
	}
	if n := ep.led.Len(); n > 0 && (ep.led.Bytes()+uint64(size) > ep.window || n >= maxOutstanding) {
		ep.starve()
		return transport.NoResource
	}
	e := ep.led.Push(f)
	o := &ep.send
	if len(e.Payload) == 0 {
		e.ZeroCopy, e.Unsent = false, false
	}
	if e.ZeroCopy {
		e.AckNow = e.AckNow || ep.retain
	} else if o.kept += size; ep.retain && o.kept >= askEvery {
		e.AckNow = true
	}
	if e.AckNow {
		o.kept = 0
	}
	body := o.keep.Take(ep.f.pool, &ep.led, e, ep.led.Posted()-1)
	pending := e.ZeroCopy
	ep.soil()
	if pending || size > ring.Inline || !ep.writeSmall(e, body) {
		ep.pump()
	}
	if pending {
		return transport.Pending
	}
	return transport.Done
}

// writeSmall is pump for a frame that was just posted and fits a slot, if nothing is in its way.
func (ep *endpoint) writeSmall(e *ledger.Entry, body []byte) bool {
	o := &ep.send
	if o.sent+1 != ep.led.Posted() || o.control.Frames() > 0 || ep.state != up || !ep.retain || ep.blocked || ep.failing != nil || ep.seg == nil || ep.fault&Mute != 0 {
		return false
	}
	h := ring.Header{ID: e.ID, Head: uint16(len(e.Head)), Size: uint32(len(body)), Ack: uint32(ep.recv.accepted)}
	if e.AckNow {
		h.Flags = flagAckNow
	}
	if !ep.out.Small(h, body) {
		return false
	}
	ep.wake |= ring.ForFrames
	ep.acks.Said(h.Ack, ep.recv.accepted, ep.recv.acceptedBytes)
	o.sent++
	return true
}

func (ep *endpoint) postControl(f *transport.Frame) transport.Status {
	o := &ep.send
	if n := o.control.Len(); n > 0 && n+f.Len() > maxControl {
		ep.starved = true
		return transport.NoResource
	}
	h := ring.Header{ID: f.ID, Flags: flagControl, Head: uint16(len(f.Head)), Size: uint32(f.Len())}
	if f.AckNow {
		h.Flags |= flagAckNow
	}
	ep.say(h, f.Head, f.Payload)
	return transport.Done
}

// say puts a control frame in line.
func (ep *endpoint) say(h ring.Header, head, payload []byte) {
	ep.queue(h, head, payload)
	ep.pump()
}

// queue is say for who is in the middle of writing.
func (ep *endpoint) queue(h ring.Header, head, payload []byte) {
	h.Ack = uint32(ep.recv.accepted)
	ep.send.control.Push(h, head, payload)
	ep.soil()
}

// starve remembers that somebody waits for room, and doesn't leave the peer the time to delay it.
func (ep *endpoint) starve() {
	if !ep.starved {
		ep.starved = true
		ep.RequestAck()
	}
}

// RequestAck implements transport.Endpoint.
func (ep *endpoint) RequestAck() {
	o := &ep.send
	if !ep.writes() {
		return
	}
	o.kept = 0
	if o.sent+1 < ep.led.Posted() || o.sent < ep.led.Posted() && o.begun == 0 {
		ep.led.At(ep.led.Posted() - 1).AckNow = true
		ep.soil()
	} else if !o.asking {
		o.asking = true
		ep.say(ring.Header{Flags: flagControl | flagAckNow}, nil, nil)
	}
}

// pump puts into the ring what waits and fits: control frames at a piece's end, then data.
func (ep *endpoint) pump() {
	o := &ep.send
	if !ep.writes() || ep.state == connecting || ep.fault&Mute != 0 {
		return
	}
	ep.blocked = false
	if !ep.writeControl() {
		return
	}
	for o.sent < ep.led.Posted() {
		if !ep.writeData() {
			return
		}
		o.begun = 0
		o.sent++
	}
	if !ep.retain && o.sent > o.letGo {
		ep.postpone()
	}
}

// writeControl writes what waits of control frames; false: not all of it fits.
func (ep *endpoint) writeControl() bool {
	q := &ep.send.control
	for {
		h, body, ok := q.Next(flagMore)
		if !ok {
			return true
		}
		dst, ok := ep.reserve(len(body))
		if !ok {
			return false
		}
		copy(dst, body)
		ep.publish(h)
		if q.Written(len(body)) {
			ep.send.asking = false
		}
	}
}

// writeData writes the rest of the next data frame; false: not all of it fits.
func (ep *endpoint) writeData() bool {
	o := &ep.send
	e := ep.led.At(o.sent)
	if o.begun == 0 && e.ZeroCopy {
		if p, ok := ep.direct(e); ok {
			return ep.writeDirect(e, p)
		}
		if ep.offers(e) {
			return ep.writeOffer(e)
		}
	}
	for {
		h := ring.Header{ID: e.ID, Head: uint16(len(e.Head)), Size: uint32(e.Size - o.begun), Ack: uint32(ep.recv.accepted)}
		if e.AckNow {
			h.Flags = flagAckNow
		}
		if o.begun > 0 {
			h.Flags |= flagMore
		}
		dst, ok := ep.reserve(h.Len())
		if !ok {
			return false
		}
		n := 0
		if o.begun < len(e.Head) { // a head is shorter than a piece
			n = copy(dst, e.Head)
		}
		o.bulk.Copy(dst[n:], e.Payload[max(o.begun-len(e.Head), 0):])
		ep.publish(h)
		if o.begun += len(dst); o.begun == e.Size {
			return true
		}
	}
}

// reserve asks the ring for room.
func (ep *endpoint) reserve(n int) ([]byte, bool) {
	dst, ok, err := ep.out.Reserve(n)
	if err != nil {
		ep.fail("connection", fmt.Errorf("%w: %w", transport.ErrProtocol, err))
		return nil, false
	}
	ep.blocked = ep.blocked || !ok
	return dst, ok
}

// publish shows the peer the piece that was reserved, with an acknowledgement on it.
func (ep *endpoint) publish(h ring.Header) {
	ep.out.Publish(h)
	ep.wake |= ring.ForFrames
	ep.acks.Said(h.Ack, ep.recv.accepted, ep.recv.acceptedBytes)
}

// flush writes what waits, as far as there is room, and wakes the peer for it.
func (ep *endpoint) flush() {
	if o := &ep.send; ep.blocked || o.sent < ep.led.Posted() || o.control.Frames() > 0 {
		ep.pump()
	}
	if !ep.blocked && ep.writes() && ep.state == up && ep.fault&Mute == 0 && ep.overdue() {
		ep.say(ring.Header{Flags: flagControl}, nil, nil) // no frame has carried it
	}
	if ep.fd < 0 || ep.seg == nil || ep.fault&Mute != 0 {
		return
	}
	ep.rouse()
	if ep.blocked && ep.lies {
		ep.lie() // for room, too
	}
	if ep.owes() && !ep.acks.Now && !ep.acks.Listed {
		ep.acks.Listed = true
		ep.f.owing = append(ep.f.owing, ep)
	}
}

// drop forgets what waits. The chunk stays: frames in it may be handed out yet.
func (o *outbox) drop() {
	o.control, o.asking = frames.Queue{}, false
}

// forget lets go of the memory of frames that are in the ring, when nobody wants them back.
func (ep *endpoint) forget() (n int) {
	o := &ep.send
	if ep.retain {
		return 0
	}
	end := o.sent
	if first, ok := o.large.First(); ok { // the peer may go back to it
		end = min(end, first)
	}
	for o.letGo = max(o.letGo, ep.led.Acked()); o.letGo < end && !ep.led.Held(); n++ {
		o.letGo++
		ep.led.Release(ep.led.At(o.letGo - 1))
	}
	return n
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool {
	return ep.acks.Owes(ep.recv.accepted) && ep.state == up && ep.writes()
}

// overdue says whether the acknowledgement is worth a slot of its own now.
func (ep *endpoint) overdue() bool {
	return ep.acks.Due(ep.recv.accepted, ep.recv.acceptedBytes, min(frames.AckBytes, ep.window/4))
}
