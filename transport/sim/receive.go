package sim

import (
	"time"

	"github.com/openbraid/braid/transport"
)

// ackFrames is how many frames are accepted before an acknowledgement goes out without delay.
const ackFrames = 16

// progress deals with everything of this endpoint that is due, and counts it.
func (ep *endpoint) progress() int {
	if ep.life == waiting {
		return 0
	}
	n := ep.net
	count := ep.connect()
	if ep.due(ep.failAt) && !n.cfg.Steered && n.luck.oneIn(2) {
		count += ep.lose()
	}
	if ep.life == dialing {
		return count + ep.late()
	}
	if ep.life == up {
		count += ep.letGo()
	}
	budget := 1 << 30
	if !n.cfg.Steered {
		if k := 1 + n.luck.below(8); !n.cfg.Calm {
			budget = k
		}
	}
	for ; budget > 0 && ep.life != closed && ep.peer != nil; budget-- {
		c := ep.receive(&ep.peer.out)
		if c == 0 {
			break
		}
		count += c
	}
	return count + ep.late()
}

// late is what comes after the frames: the error, and room.
func (ep *endpoint) late() int {
	if ep.due(ep.failAt) {
		return ep.lose()
	}
	if ep.life != up && ep.life != dialing || ep.led.Held() {
		return 0
	}
	ctl := ep.needCtl && len(ep.control) < controlRoom/2
	data := ep.need >= 0 && ep.hasRoom(ep.need) && ep.net.now >= ep.roomAt
	if !ctl && !data {
		return 0
	}
	if ctl {
		ep.needCtl = false
	}
	if data {
		ep.need, ep.granted = -1, true
	}
	ep.sink.Room()
	return 1
}

func (ep *endpoint) due(at time.Duration) bool { return at != 0 && at <= ep.net.now }

// connect tells a dialer that its connection stands.
func (ep *endpoint) connect() int {
	if ep.life != dialing || !ep.due(ep.connectAt) || ep.due(ep.failAt) {
		return 0
	}
	ep.life = up
	ep.failAt = 0 // the dial's time-out
	if far := &ep.peer.out; far.broken && !far.silent {
		ep.fails(transport.ErrPeerClosed, ep.net.cfg.Notice)
	}
	ep.net.note(Connected, ep, 0, 0)
	ep.sink.Connected()
	ep.pump()
	return 1
}

// lose tells the owner that the connection broke.
func (ep *endpoint) lose() int {
	if ep.life >= lost {
		ep.failAt = 0
		return 0
	}
	err := &Error{Op: "connection", Local: ep.local, Remote: ep.remote, Err: ep.failErr}
	if ep.life == dialing {
		err.Op = "dial"
	}
	ep.failAt = 0
	ep.led.Hold()
	ep.life = lost
	ep.dropControl()
	ep.ackDue = 0
	ep.net.note(Failed, ep, ep.accepted, 0)
	if ep.sink.OnError(err) == transport.Complete {
		ep.Quiesce()
		ep.unchanged(ep.led.Posted())
		ep.led.Cancel(err)
	}
	return 1
}

// receive deals with the oldest item of p that can be seen; 0 if there is none.
func (ep *endpoint) receive(p *pipe) int {
	now := ep.net.now
	if ep.deaf || p.len() == 0 || p.front().first > now {
		return 0
	}
	it := p.front()
	if it.last > now {
		return ep.part(it)
	}
	item := p.pop()
	ep.take(&item)
	if item.buf != nil {
		item.buf.Release()
	}
	return 1
}

// part reads some of a large frame that is still arriving.
func (ep *endpoint) part(it *item) int {
	size := it.payload()
	if ep.life >= quiesced || size < ep.net.cfg.PlaceFrom || ep.illegal(it) {
		return 0 // looked at when it is whole
	}
	count := 0
	if !it.asked {
		it.asked = true
		count = 1
		mem := ep.sink.Place(it.id, it.buf.Bytes[:it.head:it.head], size)
		if mem != nil && len(mem) != size {
			panic(&Error{Op: "connection", Local: ep.local, Remote: ep.remote, Err: errPlace})
		}
		if ep.life >= quiesced {
			return count
		}
		it.place = mem
	}
	if it.place != nil {
		more := ep.net.luck.below(size - it.filled)
		copy(it.place[it.filled:], it.buf.Bytes[it.head+it.filled:][:more])
		it.filled += more
	}
	return count
}

// illegal: data before Admit, or more than was agreed.
func (ep *endpoint) illegal(it *item) bool {
	if ep.maxFrame == 0 {
		return it.kind == itemData || it.size > transport.HelloMax
	}
	return it.size > ep.maxFrame
}

// take deals with one whole item.
func (ep *endpoint) take(it *item) {
	n := ep.net
	if it.ackNow && ep.life == up {
		ep.owe(n.now)
	}
	if it.kind != itemAck && ep.illegal(it) {
		if ep.life < quiesced {
			ep.deafen()
		}
		return
	}
	if it.kind == itemData && ep.life >= quiesced {
		n.note(DroppedData, ep, it.index, it.size)
	} else if it.kind != itemAck {
		ep.hand(it)
	}
	if ep.life == up {
		ep.takeAck(it.ack)
	}
}

// hand gives a frame to the sink.
func (ep *endpoint) hand(it *item) {
	n := ep.net
	in := &ep.iface.in
	b := it.buf.Bytes
	*in = transport.Incoming{ID: it.id, Class: transport.Control, Head: b[:it.head:it.head], Payload: b[it.head:it.size:it.size], Buf: it.buf}
	if it.kind == itemControl {
		n.note(TookControl, ep, uint64(it.id), int(checksum(0, b[:it.size])>>1))
		ep.sink.Frame(in)
		return
	}
	in.Class = transport.Data
	if it.payload() >= n.cfg.PlaceFrom && !it.asked {
		it.place = ep.sink.Place(it.id, in.Head, it.payload())
		if ep.life >= quiesced { // from inside Place
			return
		}
	}
	if it.place != nil {
		copy(it.place[it.filled:], in.Payload[it.filled:])
		in.Payload, in.Placed = it.place, true
	}
	n.note(TookData, ep, it.index, it.size)
	if it.index != ep.accepted {
		n.violation("%s>%s #%d: the network delivered frame %d as number %d", ep.local, ep.remote, ep.id, it.index, ep.accepted)
	}
	// It counts before the sink has it: if the sink quiesces from inside, what it is executing is in the position.
	ep.accepted++
	ep.acceptedBytes += uint64(it.size)
	ep.ackBytes += uint64(it.size)
	ep.sink.Frame(in)
	if ep.life == up {
		ep.oweLater()
	}
}

// oweLater decides when what was accepted is acknowledged.
func (ep *endpoint) oweLater() {
	n := ep.net
	if ep.accepted-ep.ackSent >= ackFrames || ep.ackBytes >= uint64(ep.window)/4 {
		ep.owe(n.now)
	} else if ep.ackDue == 0 {
		wait := n.cfg.AckDelay
		if !n.cfg.Calm {
			wait = 1 + n.luck.upTo(wait-1)
		}
		ep.owe(n.now + wait)
	}
}

func (ep *endpoint) owe(at time.Duration) {
	at = max(at, 1)
	if ep.ackDue == 0 || at < ep.ackDue {
		ep.ackDue = at
		if !ep.net.cfg.Steered { // who steers asks for deadlines
			ep.net.wakeAt(at, ep)
		}
	}
}

// acknowledge sends the acknowledgement that is due.
func (ep *endpoint) acknowledge() int {
	if ep.life != up || len(ep.control) > 0 || !ep.due(ep.ackDue) {
		return 0
	}
	ep.ackDue, ep.ackSent, ep.ackBytes = 0, ep.accepted, 0
	ep.net.send(ep, item{kind: itemAck, ack: ep.accepted})
	return 1
}

func (ep *endpoint) takeAck(position uint64) {
	if position <= ep.led.Acked() {
		return
	}
	ep.net.note(Acknowledged, ep, position, 0)
	ep.unchanged(min(position, ep.led.Posted()))
	if err := ep.led.Ack(position); err != nil {
		ep.net.violation("%s>%s #%d: acknowledged %d of %d posted", ep.local, ep.remote, ep.id, position, ep.led.Posted())
	}
}

// deafen ends a connection whose peer does not keep to the rules.
func (ep *endpoint) deafen() {
	n := ep.net
	ep.deaf = true
	ep.failErr = transport.ErrProtocol
	ep.failAt = n.now
	n.breakOff(ep, false)
	if ep.peer.life != closed {
		n.breakOff(ep.peer, false)
		ep.peer.fails(transport.ErrReset, n.cfg.Notice)
	}
}
