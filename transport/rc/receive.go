package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/wire"
)

// received takes a completion of a receive.
func (ep *endpoint) received(wc *rdma.WC) {
	at := uint16(wc.ID)
	if int(at) >= len(ep.recvs) || ep.recvs[at] == nil {
		return // the endpoint was closed by a callback of this turn
	}
	b := ep.recvs[at]
	if wc.Status != rdma.StatusSuccess {
		ep.recvs[at] = nil
		b.Release()
		if ep.state > up {
			return // flushed
		}
		kind, err := queue.Failure(wc)
		if wc.Status == rdma.StatusFlushed {
			kind, err = transport.ErrReset, errViolation
		}
		ep.lost(ep.wrap("receive", kind, err))
		return
	}
	ep.flow.taken++
	if ep.state == accepting {
		ep.established() // what it sends says that it got the reply
	}
	if ep.state == up || ep.state == quiesced {
		b.Retain() // a callback may close the endpoint
		kept := ep.take(b, int(wc.Length), at)
		b.Release()
		if kept {
			return
		}
	}
	if ep.state == up && ep.recvs[at] == b {
		ep.again(at)
	}
}

// take takes one segment; kept: its receive waits for what is being read. Its acknowledgement is applied after what it carries was handed to the sink, so that what a peer says
// of a frame (a refusal, say) is seen before the acknowledgement that covers it.
func (ep *endpoint) take(b *queue.Block, n int, at uint16) (kept bool) {
	if n < wire.SegmentLen || n > len(b.Bytes) {
		ep.strange("a segment of %d bytes", n)
		return false
	}
	s := wire.ParseSegment(b.Bytes)
	body := b.Bytes[wire.SegmentLen:n]
	if !s.Valid(n) {
		ep.strange("a segment of kind %d, flags %#x and %d bytes", s.Kind, s.Flags, n)
		return false
	}
	if more := int32(s.Granted - ep.flow.limit); more < 0 || more > 1<<16 {
		ep.strange("a grant of %d receives more", more)
		return false
	}
	if ep.flow.limit != s.Granted {
		ep.flow.limit = s.Granted
		ep.soil()
	}
	switch {
	case s.Kind == wire.Offers && ep.state == up:
		ep.offered(at, body)
		kept = true
	case ep.state == up && ep.reads.holds() && s.Kind != wire.Nothing && !control(s, body):
		ep.reads.waiting = append(ep.reads.waiting, item{at: at, n: n})
		kept = true
	default:
		ep.takeBody(s, b, body)
	}
	if ep.state == up { // else the sink has quiesced or closed it: no acknowledgement is taken any more
		ep.acked(s.Ack)
	}
	return kept
}

// control says whether a segment has control frames in it: they don't wait.
func control(s wire.Segment, body []byte) bool {
	return s.Flags&wire.SegControl != 0 || s.Kind == wire.Frames && len(body) >= wire.HeaderLen && wire.ParseHeader(body).Control()
}

// takeBody takes what stands in a segment.
func (ep *endpoint) takeBody(s wire.Segment, b *queue.Block, body []byte) {
	switch s.Kind {
	case wire.Frames:
		ep.takeFrames(b, body)
	case wire.First:
		ep.begin(s.Flags&wire.SegControl != 0, body)
	case wire.More:
		ep.goOn(s.Flags&wire.SegControl != 0, body)
	case wire.Nothing, wire.Offers, wire.Kinds:
	}
	if ep.state == up && s.Flags&wire.SegAckNow != 0 && ep.acks.Hurry(ep.in.accepted) {
		ep.soil()
	}
}

// strange ends a connection whose peer sends what can't be.
func (ep *endpoint) strange(format string, args ...any) {
	err := fmt.Errorf("%w: the peer sent %s; is it a braid peer of this version?", transport.ErrProtocol, fmt.Sprintf(format, args...))
	ep.lost(ep.wrap("receive", transport.ErrProtocol, err))
}

// takeFrames takes the whole frames of a segment.
func (ep *endpoint) takeFrames(b *queue.Block, body []byte) {
	mixed := ep.reads.holds() && len(body) >= wire.HeaderLen && wire.ParseHeader(body).Control()
	raw, buf := ep.in.hold(ep, b, body)
	buf.Retain()
	defer buf.Release()
	for len(raw) > 0 {
		if len(raw) < wire.HeaderLen {
			ep.strange("%d bytes instead of a frame", len(raw))
			return
		}
		h := wire.ParseHeader(raw)
		if !h.Valid(ep.lim) || h.Len() > len(raw) {
			ep.strange("a frame of id %d, flags %#x, head %d and %d bytes in a segment; taken are %+v", h.ID, h.Flags, h.Head, h.Size, ep.lim)
			return
		}
		if mixed && !h.Control() && ep.state == up {
			ep.strange("a data frame behind a control frame")
			return
		}
		if ep.state == up || ep.state == quiesced && h.Control() {
			ep.hand(h, raw[wire.HeaderLen:wire.HeaderLen+int(h.Head)], raw[wire.HeaderLen+int(h.Head):h.Len()], false, buf)
		}
		if ep.state != up && ep.state != quiesced {
			return
		}
		raw = raw[h.Len():]
	}
}

// assembly is where parts of data or of control frames go.
func (ep *endpoint) assembly(control bool) *assembly {
	if control {
		return &ep.in.control
	}
	return &ep.in.data
}

// begin takes the first part of a frame, and asks where the payload of a data frame shall go.
func (ep *endpoint) begin(control bool, body []byte) {
	a := ep.assembly(control)
	if a.mem != nil || len(body) < wire.HeaderLen {
		ep.strange("the begin of a frame, of %d bytes, within another (%v)", len(body), a.mem != nil)
		return
	}
	h := wire.ParseHeader(body)
	if !h.Valid(ep.lim) || h.Control() != control || h.Len() <= len(body) || len(body) < wire.HeaderLen+int(h.Head) {
		ep.strange("the begin of a frame of id %d, flags %#x, head %d and %d bytes, %d here; taken are %+v", h.ID, h.Flags, h.Head, h.Size, len(body), ep.lim)
		return
	}
	if ep.state == quiesced && !control {
		return
	}
	head, payload := body[wire.HeaderLen:wire.HeaderLen+int(h.Head)], body[wire.HeaderLen+int(h.Head):]
	size := int(h.Size) - int(h.Head)
	var place []byte
	if !control && h.Len()-len(body) > placeFrom {
		place = ep.askPlace(h.ID, head, size)
		if ep.state != up {
			return
		}
	}
	*a = assembly{h: h, payload: place, placed: place != nil}
	if a.placed {
		a.mem = ep.f.pool.Get(int(h.Head))
	} else {
		a.mem = ep.f.pool.Get(int(h.Size))
		a.payload = a.mem.Bytes[h.Head:h.Size]
	}
	copy(a.mem.Bytes, head)
	a.have = copy(a.payload, payload)
}

// askPlace asks where a payload shall go; nil: anywhere.
func (ep *endpoint) askPlace(id uint8, head []byte, size int) []byte {
	place := ep.sink.Place(id, head, size)
	if place != nil && len(place) != size {
		panic(fmt.Errorf("rc: Place returned %d bytes for a payload of %d: %w", len(place), size, transport.ErrFrame))
	}
	return place
}

// goOn takes a further part.
func (ep *endpoint) goOn(control bool, body []byte) {
	a := ep.assembly(control)
	if a.mem == nil {
		if ep.state != quiesced {
			ep.strange("a part of a frame that was not begun")
		}
		return
	}
	if len(body) == 0 || len(body) > len(a.payload)-a.have {
		ep.strange("a part of %d bytes of a frame that lacks %d", len(body), len(a.payload)-a.have)
		return
	}
	a.have += copy(a.payload[a.have:], body)
	if a.have < len(a.payload) {
		return
	}
	whole := *a
	*a = assembly{}
	ep.hand(whole.h, whole.mem.Bytes[:whole.h.Head], whole.payload, whole.placed, whole.mem)
	whole.mem.Release()
}

// hand hands one frame to the sink.
func (ep *endpoint) hand(h wire.Header, head, payload []byte, placed bool, buf *transport.Buffer) {
	in := &ep.f.incoming
	*in = transport.Incoming{ID: h.ID, Head: head, Payload: payload, Placed: placed, Buf: buf}
	if h.Control() {
		in.Class = transport.Control
	} else {
		ep.in.taking, ep.in.takingSize = true, h.Size
	}
	ep.sink.Frame(in)
	*in = transport.Incoming{}
	if ep.in.taking {
		ep.in.accept()
		ep.soil()
	}
	if h.Flags&wire.FlagAckNow != 0 && ep.state == up && ep.acks.Hurry(ep.in.accepted) {
		ep.soil()
	}
}

// acked: the peer has accepted n frames.
func (ep *endpoint) acked(n uint64) {
	if ep.led.Held() {
		return
	}
	if was := ep.led.Acked(); n < was || n > ep.out.Sent {
		err := fmt.Errorf("%w: %w: the peer acknowledged %d frames after %d, sent are %d",
			transport.ErrProtocol, transport.ErrPosition, n, was, ep.out.Sent)
		ep.lost(ep.wrap("receive", transport.ErrProtocol, err))
		return
	}
	_ = ep.led.Ack(n) // in range, as was just checked
	ep.out.Acked(n)
	ep.out.Settle()
	ep.room()
}
