package self

import (
	"fmt"

	"github.com/openbraid/braid/transport"
)

const (
	turnBytes = 1 << 20 // of data in one turn of one endpoint, before the others have theirs
	frameCost = 2 << 10 // what a data frame counts at least
	placeFrom = 1 << 10 // a zero-copy payload of this size is worth asking for a place
)

// turn deals with what is there for this endpoint, and counts it.
func (ep *endpoint) turn() (n int) {
	if ep.state == connecting {
		n = ep.knock()
	}
	if ep.state != up && ep.state != quiesced {
		return n
	}
	from := ep.peer
	acked, posted := from.accepted, from.led.Posted()
	if control := ep.in.len(); control > 0 {
		n += ep.takeControl(control)
	}
	if ep.state == up && acked != ep.led.Acked() && !ep.led.Held() {
		_ = ep.led.Ack(acked) // in range: the peer took each of them from these books
		n++
	}
	if ep.accepted < posted {
		n += ep.takeData(posted)
	}
	if ep.need >= 0 || ep.starving.control {
		n += ep.room()
	}
	if ep.gone != nil && ep.state == up && ep.in.len() == 0 { // else it was listed again, and reads what it was told first
		ep.broke(opConnection, ep.gone)
		n++
	}
	return n
}

// knock announces a dialed connection, or finds nobody.
func (ep *endpoint) knock() int {
	far := ep.peer
	port, _ := parse(ep.remote) // Dial did it before
	l := ep.f.listener(port)
	if l == nil {
		ep.broke(opDial, ErrNobody)
		return 1
	}
	far.note(evStands)
	ep.f.adopt(far)
	sink, o := l.owner.Accepted(far)
	if sink == nil {
		far.Close()
	}
	far.sink = sink
	far.setWindow(o)
	switch {
	case ep.state != connecting: // the acceptor closed it
	case far.state == closed:
		ep.broke(opDial, ep.gone)
	default:
		ep.note(evStands)
		ep.sink.Connected()
	}
	return 1
}

// takeControl hands over the oldest n control frames.
func (ep *endpoint) takeControl(n int) (taken int) {
	for ; taken < n && (ep.state == up || ep.state == quiesced); taken++ {
		m := ep.in.pop()
		if m.size > ep.lim.frame {
			ep.f.pool.give(m.buf)
			ep.stranger(m.size)
			continue
		}
		b := m.buf.Bytes
		in := &ep.f.incoming
		*in = transport.Incoming{ID: m.id, Class: transport.Control, Head: b[:m.head:m.head], Payload: b[m.head:m.size:m.size], Buf: m.buf}
		ep.sink.Frame(in)
		*in = transport.Incoming{}
		ep.f.pool.give(m.buf)
	}
	if p := ep.peer; p.starving.control {
		p.list()
	}
	return taken
}

// stranger: the peer posted what was not agreed. A quiesced endpoint just doesn't read it.
func (ep *endpoint) stranger(size int) {
	if ep.state == up {
		ep.broke(opConnection, fmt.Errorf("%w: %d bytes came; admitted is %+v", transport.ErrProtocol, size, ep.lim))
	}
}

// takeData takes frames from the peer's books, up to a number, as much as one turn may. Control frames that come meanwhile go first.
func (ep *endpoint) takeData(to uint64) (n int) {
	from := ep.peer
	for budget := turnBytes; ep.accepted < to && ep.state == up && !from.led.Held() && ep.in.len() == 0; n++ {
		if budget <= 0 {
			break
		}
		e := from.led.At(ep.accepted)
		if !ep.lim.data || e.Size > ep.lim.frame {
			ep.stranger(e.Size)
			return n + 1
		}
		budget -= max(e.Size, frameCost)
		if e.Unsent {
			ep.takeZeroCopy()
		} else {
			ep.take(e.Payload, false)
		}
	}
	if n > 0 {
		from.list() // for the acknowledgement
	}
	if ep.state == up && !from.led.Held() && ep.accepted < from.led.Posted() {
		ep.list()
	}
	return n
}

// takeZeroCopy copies the next payload to its place, or to a buffer.
func (ep *endpoint) takeZeroCopy() {
	led := &ep.peer.led
	at := ep.accepted
	e := led.At(at)
	size := len(e.Payload)
	var place []byte
	if size >= placeFrom {
		place = ep.sink.Place(e.ID, e.Head, size)
		if ep.state != up || led.Held() {
			return // it was lost from inside Place: it doesn't count
		}
		e = led.At(at) // the books may have moved
	}
	if place != nil {
		if len(place) != size {
			panic(fmt.Errorf("self: Place returned %d bytes for a payload of %d: %w", len(place), size, transport.ErrFrame))
		}
		copy(place, e.Payload)
		ep.take(place, true)
		return
	}
	h := len(e.Head)
	b := ep.f.pool.get(e.Size)
	copy(b.Bytes[copy(b.Bytes, e.Head):], e.Payload)
	ep.f.pool.give(e.Mem)
	e.Mem, e.Head = b, b.Bytes[:h:h]
	ep.take(b.Bytes[h:e.Size:e.Size], false)
}

// take accepts the next frame: from here on it counts, so nobody needs the bytes in the books any more, and what holds them is
// the receiver's. A zero-copy payload stays there until it is acknowledged, since Sent is owed.
func (ep *endpoint) take(payload []byte, placed bool) {
	e := ep.peer.led.At(ep.accepted)
	mem := e.Mem
	in := &ep.f.incoming
	in.ID, in.Class, in.Head, in.Payload, in.Placed, in.Buf = e.ID, transport.Data, e.Head, payload, placed, mem
	ep.accepted++
	ep.acceptedBytes += uint64(e.Size)
	e.Mem, e.Head = nil, nil
	if !e.Unsent {
		e.Payload = nil
	}
	ep.sink.Frame(in)
	*in = transport.Incoming{}
	ep.f.pool.give(mem)
}

// room calls Room if what found none would find it now.
func (ep *endpoint) room() int {
	if ep.state != up || ep.led.Held() {
		return 0
	}
	data := ep.need >= 0 && ep.hasRoom(ep.need)
	control := ep.starving.control && 2*ep.peer.in.bytes <= controlRoom
	if !data && !control {
		return 0
	}
	if data {
		ep.need = -1
	}
	if control {
		ep.starving.control = false
	}
	ep.sink.Room()
	return 1
}
