//go:build linux

package shm

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/frames"
	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	turnBytes = 512 << 10 // taken of one endpoint in one turn, before the others have theirs
	pieceCost = 64        // what a piece counts at least
	placeFrom = 4 << 10   // a payload of this size is worth asking for a place

	// heardFrames is up to how many acknowledged frames are left until nothing comes: to end them takes a tenth of what a message takes, and the message is
	// waited for. Who sleeps leaves none.
	heardFrames = 32
)

// turn takes what arrived, and goes on with what waits for room.
func (ep *endpoint) turn() (n int) {
	if ep.f.o.Fault != nil && ep.cut() {
		return 1
	}
	if ep.state != up && ep.state != quiesced {
		return 0
	}
	if ep.in != nil && ep.fault&Deaf == 0 && ep.ready() {
		n = ep.receive()
	} else if ep.acks.Heard != 0 {
		n = ep.settleHeard()
	}
	if ep.blocked && ep.writes() && ep.out.Freed() {
		ep.pump()
		ep.soil()
		n++
	}
	return n
}

// cut asks for faults.
func (ep *endpoint) cut() bool {
	if ep.seg == nil || ep.state == closed {
		return false
	}
	was := ep.fault
	ep.fault = ep.f.o.Fault(ep.local, ep.remote)
	if was&^ep.fault&Mute != 0 {
		ep.soil() // what was held back
	}
	if ep.fault == Sound {
		ep.borrowed.Open()
	} else {
		ep.lent.Shut(ep.f.desk)
		ep.borrowed.Close()
	}
	if ep.fault&Reset != 0 && ep.failing == nil {
		ep.fail("connection", errCut)
		return true
	}
	return false
}

var errCut = errors.New("cut by a fault")

// receive takes what has arrived, as much as one turn may.
func (ep *endpoint) receive() (n int) {
	for budget := turnBytes; budget > 0 && ep.in != nil && ep.recv.reading != withheld; {
		h, body, ok, err := ep.in.Next()
		if err != nil {
			ep.broke(ep.wrap("connection", fmt.Errorf("%w: %w", transport.ErrProtocol, err)))
			return n + 1
		}
		if !ok {
			break
		}
		ep.in.Ahead()
		n++
		budget -= max(len(body), pieceCost, ep.piece(h, body))
	}
	return n
}

// piece takes one, and returns how many bytes it brought beside its own.
func (ep *endpoint) piece(h ring.Header, body []byte) (more int) {
	control := h.Flags&flagControl != 0
	p := &ep.recv.data
	if control {
		p = &ep.recv.control
	}
	if err := ep.strange(h, p); err != nil {
		ep.broke(ep.wrap("connection", err))
		return 0
	}
	switch {
	case !control && ep.skips():
		ep.done()
	case h.Flags&flagMore != 0:
		whole := p.More(body)
		ep.done()
		if !whole {
			ep.hear(h)
			return 0
		}
		f := *p
		*p = frames.Partial{}
		ep.take(h, f)
	case p.Left > 0:
		ep.afresh(h, body)
	case h.Flags&flagAway != 0:
		return ep.fetch(h, body)
	case h.ID == 0:
		ep.own(h, body)
	case small(h): // mostly
		ep.takeSmall(h, body)
	default:
		f, ok := ep.begin(h, body)
		if !ok { // it was lost from inside Place
			return 0
		}
		ep.done()
		if f.Left > 0 {
			*p = f
			ep.hear(h)
			return 0
		}
		ep.take(h, f)
	}
	return 0
}

// done gives the piece back, and notes that the peer may go on.
func (ep *endpoint) done() {
	if ep.in.Done() {
		ep.wake |= ring.ForRoom
		ep.soil()
	}
}

// small says whether a frame is whole in its first piece, and has no place of its own.
func small(h ring.Header) bool {
	return h.Size <= frames.Large && (h.Size-uint32(h.Head) < placeFrom || h.Flags&flagControl != 0)
}

// takeSmall copies such a frame to private memory and hands it over.
func (ep *endpoint) takeSmall(h ring.Header, body []byte) {
	mem, buf := ep.recv.Memory(ep.f.pool, len(body))
	copy(mem, body)
	ep.done()
	in := &ep.f.incoming
	in.Head, in.Payload, in.Buf = mem[:h.Head:h.Head], mem[h.Head:], buf
	ep.hand(h, h.Size)
}

// begin copies the first piece of a frame to where it belongs: heads and small payloads to private memory, large ones to their place.
func (ep *endpoint) begin(h ring.Header, body []byte) (p frames.Partial, ok bool) {
	r := &ep.recv
	head, size := int(h.Head), int(h.Size)
	p = frames.Partial{H: h, Left: size - len(body)}
	p.Head, p.Buf = r.Memory(ep.f.pool, head)
	copy(p.Head, body[:head])
	if h.Flags&flagControl == 0 && ep.state == up && size-head >= placeFrom {
		place := ep.sink.Place(h.ID, p.Head, size-head)
		if ep.state != up {
			p.Drop()
			return p, false
		}
		if place != nil && len(place) != size-head {
			panic(fmt.Errorf("shm: Place returned %d bytes for a payload of %d: %w", len(place), size-head, transport.ErrFrame))
		}
		p.Place, p.Placed = place, place != nil
	}
	if p.Place == nil {
		small, hold := p.Head, p.Buf
		var mem []byte
		mem, p.Buf = r.Memory(ep.f.pool, size)
		p.Head, p.Place = mem[:copy(mem, small):head], mem[head:]
		hold.Release()
	}
	p.Filled = copy(p.Place, body[head:])
	return p, true
}

// take hands over a frame that came in several pieces.
func (ep *endpoint) take(h ring.Header, p frames.Partial) {
	in := &ep.f.incoming
	in.Head, in.Payload, in.Placed, in.Buf = p.Head, p.Place, p.Placed, p.Buf
	ep.hand(h, p.H.Size)
}

// hand hands the incoming frame to the sink, then applies the acknowledgement that came with it.
func (ep *endpoint) hand(h ring.Header, size uint32) {
	in, r := &ep.f.incoming, &ep.recv
	in.ID, in.Class = h.ID, transport.Data
	if h.Flags&flagControl != 0 {
		in.Class = transport.Control
	} else {
		r.taking, r.takingSize = true, size
	}
	buf := in.Buf
	ep.sink.Frame(in)
	*in = transport.Incoming{}
	r.Back(buf)
	if r.taking {
		r.accept()
		if !ep.acks.Listed || ep.overdue() {
			ep.soil()
		}
	}
	ep.hear(h)
}

// hear takes what a slot says beside its bytes.
func (ep *endpoint) hear(h ring.Header) {
	if ep.state != up || ep.led.Held() {
		return // quiesced or closed by the sink: no acknowledgement is taken any more
	}
	if h.Flags&flagAckNow != 0 && ep.acks.Hurry(ep.recv.accepted) {
		ep.soil()
	}
	base := max(ep.led.Acked(), ep.acks.Heard)
	d := h.Ack - uint32(base)
	if d == 0 {
		return
	}
	if uint64(d) > ep.send.sent-base {
		ep.broke(ep.wrap("connection", fmt.Errorf("%w: %w: the peer acknowledged %d frames after %d, written are %d",
			transport.ErrProtocol, transport.ErrPosition, base+uint64(d), base, ep.send.sent)))
		return
	}
	ep.acks.Heard = base + uint64(d)
	if h.ID == 0 || ep.acks.Heard-ep.led.Acked() >= heardFrames || ep.starved || ep.f.turn.watched {
		ep.settleHeard()
	}
}

// settleHeard ends the frames that the peer has acknowledged. Whoever waits for the frame with which that came has it by now.
func (ep *endpoint) settleHeard() int {
	heard := ep.acks.Heard
	ep.acks.Heard = 0
	if heard == 0 || ep.state != up || ep.led.Held() {
		return 0
	}
	_ = ep.led.Ack(heard) // in range, as was checked when it came
	ep.send.large.Acked(heard, ep.f.env.Now)
	ep.settle()
	ep.room()
	return 1
}

// strange says what is wrong with a piece.
func (ep *endpoint) strange(h ring.Header, p *frames.Partial) error {
	control := h.Flags&flagControl != 0
	what := ""
	switch more := h.Flags&flagMore != 0; {
	case !control && ep.skips():
		return nil // nobody looks
	case more != (p.Left > 0) && (more || control || ep.recv.reading != again), more && !control && ep.recv.reading == again:
		what = "a piece that belongs to no frame, or the next frame before the last one was whole"
	case more && (int(h.Size) != p.Left || h.ID != p.H.ID || h.Head != p.H.Head),
		!more && p.Left > 0 && (h.Size != p.H.Size || h.ID != p.H.ID || h.Head != p.H.Head || h.Flags&flagAway != 0):
		what = "a piece of another frame"
	case more:
	case h.Flags&flagAway != 0 && (control || h.Head > awayHead || h.Size != awayLen+uint32(h.Head)):
		what = "a payload that stands elsewhere, and does not say where"
	case int64(h.Size) > int64(ep.lim.frame):
		what = fmt.Sprintf("a frame of %d bytes, agreed are at most %d", h.Size, ep.lim.frame)
	case uint32(h.Head) > h.Size || h.Head > maxHead:
		what = fmt.Sprintf("a head of %d bytes in a frame of %d", h.Head, h.Size)
	case !control && !ep.lim.data:
		what = "a data frame before the handshake was over"
	case h.ID == 0 && !ep.owns(h), h.ID != 0 && h.Flags&flagsOwn != 0:
		what = "a frame of this transport's own that it does not know"
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%w: the peer sent %s", transport.ErrProtocol, what)
}

// leftovers is what Progress does for an endpoint because others must not.
func (ep *endpoint) leftovers() (n int) {
	if ep.failing != nil && ep.state < broken || ep.failing != nil && ep.state == quiesced && ep.seg != nil {
		if ep.in != nil && ep.state != connecting && ep.fault&(Deaf|Reset) == 0 {
			if n = ep.receive(); n > 0 && ep.seg != nil {
				ep.postpone() // the peer said more before the end: take it first
				return n
			}
		}
		if ep.state < broken || ep.seg != nil {
			ep.broke(ep.failing)
			n++
		}
		return n
	}
	return ep.settleHeard() + ep.forget() + ep.room()
}

// room calls the sink if it waits for room and there is some.
func (ep *endpoint) room() int {
	o := &ep.send
	if !ep.starved || !ep.writes() || 2*ep.led.Bytes() > ep.window ||
		2*ep.led.Len() > maxOutstanding || 2*o.control.Len() > maxControl {
		return 0
	}
	ep.starved = false
	ep.sink.Room()
	return 1
}
