package tcp

import (
	"fmt"

	"github.com/openbraid/braid/transport"
)

const (
	readLen    = 256 << 10 // what is read goes into buffers of this size
	turnBytes  = 512 << 10 // read of one endpoint in one turn, before the others have theirs
	placeFrom  = 16 << 10  // a data frame that lacks more than this is read to its place
	afterLarge = 16 << 10  // read at most this behind a placed frame: the next may be one too
	minRead    = 4 << 10   // less room than this isn't worth a read
)

// inbox is what has been read and not yet taken.
//
//	buf: |..taken..| r: frame, frame, part of a frame | w: room |
//	place: the rest of that part, if its payload is large
type inbox struct {
	buf  *transport.Buffer
	r, w int

	large  header // its payload goes to place
	place  []byte
	placed int
	own    bool // the sink took its memory back: place is ours
	asked  bool // the sink was asked for a place for the frame at r
	small  bool // large frames come: read little, so that their payload needn't be moved
	skip   int  // bytes of a frame that nobody takes any more

	accepted, acceptedBytes uint64
	taking                  bool // the sink is taking a data frame right now
	takingSize              uint32
}

// accept counts the frame that the sink has taken, or is answerable for: once.
func (in *inbox) accept() {
	if in.taking {
		in.accepted++
		in.acceptedBytes += uint64(in.takingSize)
		in.taking = false
	}
}

// receive takes what has arrived, as much as one turn may.
func (ep *endpoint) receive() (n int) {
	for budget := turnBytes; budget > 0 && ep.stream != nil; {
		p := ep.in.space(ep.f)
		k, err := ep.stream.Read(p)
		if err == transport.ErrAgain {
			break
		}
		if err != nil {
			ep.broke(ep.wrap("read", err))
			return n + 1
		}
		n += 1 + ep.took(k)
		if k < len(p) {
			break // that was all: another read would only say so
		}
		budget -= k
	}
	ep.in.rest(ep.f)
	return n
}

// took takes k more bytes.
func (ep *endpoint) took(k int) int {
	in := &ep.in
	if in.place != nil {
		in.placed += k
		if in.placed < len(in.place) {
			return 0
		}
		head := in.buf.Bytes[in.r+headerLen:][:in.large.head]
		payload := in.place
		placed := !in.own
		in.r, in.place, in.asked, in.own, in.small = in.w, nil, false, false, true
		ep.take(in.large, head, payload, placed)
		return 1
	}
	in.w += k
	return ep.parse()
}

// parse hands out the frames that are whole.
func (ep *endpoint) parse() (n int) {
	in := &ep.in
	for buf := in.buf; in.buf == buf && buf != nil; {
		if in.skip > 0 {
			d := min(in.skip, in.w-in.r)
			in.skip -= d
			in.r += d
		}
		raw := buf.Bytes[in.r:in.w]
		if len(raw) < headerLen {
			return n
		}
		h := parseHeader(raw)
		if !h.valid(ep.lim) {
			ep.broke(ep.wrap("read", h.strange(ep.lim, raw)))
			return n + 1
		}
		if ep.state == quiesced && !h.control() {
			in.skip = h.len()
			continue
		}
		if len(raw) < h.len() {
			ep.partial(h, raw)
			return n
		}
		in.r += h.len()
		in.asked, in.small = false, false
		ep.take(h, raw[headerLen:headerLen+int(h.head)], raw[headerLen+int(h.head):h.len()], false)
		n++
	}
	return n
}

// partial asks for a place for the payload of a large data frame.
func (ep *endpoint) partial(h header, raw []byte) {
	in := &ep.in
	body := headerLen + int(h.head)
	if h.control() || in.asked || len(raw) < body || h.len()-len(raw) <= placeFrom || ep.state != up {
		return
	}
	in.asked = true
	size := int(h.size) - int(h.head)
	place := ep.sink.Place(h.id, raw[headerLen:body], size)
	if place == nil || ep.state != up {
		return
	}
	if len(place) != size {
		panic(fmt.Errorf("tcp: Place returned %d bytes for a payload of %d: %w", len(place), size, transport.ErrFrame))
	}
	in.large, in.place = h, place
	in.placed = copy(place, raw[body:])
}

// take hands one frame to the sink, then applies the acknowledgement that came with it.
func (ep *endpoint) take(h header, head, payload []byte, placed bool) {
	if h.id != 0 {
		in := &ep.f.incoming
		*in = transport.Incoming{ID: h.id, Head: head, Payload: payload, Placed: placed, Buf: ep.in.buf}
		if h.control() {
			in.Class = transport.Control
		} else {
			ep.in.taking, ep.in.takingSize = true, h.size
		}
		ep.sink.Frame(in)
		*in = transport.Incoming{}
		if ep.in.taking {
			ep.in.accept()
			ep.soil()
		}
	}
	if ep.state != up {
		return // quiesced or closed by the sink: no acknowledgement is taken any more
	}
	if h.flags&flagAckNow != 0 && ep.acks.Hurry(ep.in.accepted) {
		ep.soil()
	}
	if h.ack != 0 {
		ep.acked(h.ack)
	}
}

// acked: the peer has accepted n frames.
func (ep *endpoint) acked(n uint64) {
	if ep.led.Held() {
		return
	}
	if was := ep.led.Acked(); n < was || n > ep.out.sent {
		ep.broke(ep.wrap("read", fmt.Errorf("%w: %w: the peer acknowledged %d frames after %d, written are %d",
			transport.ErrProtocol, transport.ErrPosition, n, was, ep.out.sent)))
		return
	}
	_ = ep.led.Ack(n) // in range, as was just checked
	if ep.out.lent > n {
		ep.soil() // what is left may be too little for the peer to acknowledge by itself
	}
	ep.settle()
	ep.room()
}
