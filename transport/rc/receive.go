package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
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
		kind, err := failure(wc)
		if wc.Status == rdma.StatusFlushed {
			kind, err = transport.ErrReset, errViolation
		}
		ep.lost(ep.wrap("receive", kind, err))
		return
	}
	if ep.state == accepting {
		ep.established() // what it sends says that it got the reply
	}
	if ep.state == up || ep.state == quiesced {
		b.Retain() // a callback may close the endpoint
		ep.take(b, int(wc.Length))
		b.Release()
	}
	if ep.state == up && ep.recvs[at] == b {
		ep.again(at)
	}
}

// take takes one segment. Its acknowledgement is applied after what it carries was handed to the sink, so that what a peer says
// of a frame (a refusal, say) is seen before the acknowledgement that covers it.
func (ep *endpoint) take(b *block, n int) {
	if n < segmentLen || n > len(b.Bytes) {
		ep.strange("a segment of %d bytes", n)
		return
	}
	s := parseSegment(b.Bytes)
	body := b.Bytes[segmentLen:n]
	if s.kind >= kinds || s.flags&^segKnown != 0 || s.kind == nothing && n > segmentLen || s.kind <= frames && s.flags&segControl != 0 {
		ep.strange("a segment of kind %d, flags %#x and %d bytes", s.kind, s.flags, n)
		return
	}
	if more := int32(s.granted - ep.flow.limit); more < 0 || more > 1<<16 {
		ep.strange("a grant of %d receives more", more)
		return
	}
	if ep.flow.limit != s.granted {
		ep.flow.limit = s.granted
		ep.soil()
	}
	switch s.kind {
	case frames:
		ep.takeFrames(b, body)
	case first:
		ep.begin(s.flags&segControl != 0, body)
	case more:
		ep.goOn(s.flags&segControl != 0, body)
	case nothing, kinds:
	}
	if ep.state != up {
		return // quiesced or closed by the sink: no acknowledgement is taken any more
	}
	if s.flags&segAckNow != 0 && ep.in.accepted != ep.acks.out {
		ep.acks.now = true
		ep.soil()
	}
	ep.acked(s.ack)
}

// strange ends a connection whose peer sends what can't be.
func (ep *endpoint) strange(format string, args ...any) {
	err := fmt.Errorf("%w: the peer sent %s; is it a braid peer of this version?", transport.ErrProtocol, fmt.Sprintf(format, args...))
	ep.lost(ep.wrap("receive", transport.ErrProtocol, err))
}

// takeFrames takes the whole frames of a segment.
func (ep *endpoint) takeFrames(b *block, body []byte) {
	raw, buf := ep.in.hold(ep, b, body)
	buf.Retain()
	defer buf.Release()
	for len(raw) > 0 {
		if len(raw) < headerLen {
			ep.strange("%d bytes instead of a frame", len(raw))
			return
		}
		h := parseHeader(raw)
		if !h.valid(ep.lim) || h.len() > len(raw) {
			ep.strange("a frame of id %d, flags %#x, head %d and %d bytes in a segment; taken are %+v", h.id, h.flags, h.head, h.size, ep.lim)
			return
		}
		if ep.state == up || ep.state == quiesced && h.control() {
			ep.hand(h, raw[headerLen:headerLen+int(h.head)], raw[headerLen+int(h.head):h.len()], false, buf)
		}
		if ep.state != up && ep.state != quiesced {
			return
		}
		raw = raw[h.len():]
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
	if a.mem != nil || len(body) < headerLen {
		ep.strange("the begin of a frame, of %d bytes, within another (%v)", len(body), a.mem != nil)
		return
	}
	h := parseHeader(body)
	if !h.valid(ep.lim) || h.control() != control || h.len() <= len(body) || len(body) < headerLen+int(h.head) {
		ep.strange("the begin of a frame of id %d, flags %#x, head %d and %d bytes, %d here; taken are %+v", h.id, h.flags, h.head, h.size, len(body), ep.lim)
		return
	}
	if ep.state == quiesced && !control {
		return
	}
	head, payload := body[headerLen:headerLen+int(h.head)], body[headerLen+int(h.head):]
	size := int(h.size) - int(h.head)
	var place []byte
	if !control && h.len()-len(body) > placeFrom {
		place = ep.sink.Place(h.id, head, size)
		if ep.state != up {
			return
		}
		if place != nil && len(place) != size {
			panic(fmt.Errorf("rc: Place returned %d bytes for a payload of %d: %w", len(place), size, transport.ErrFrame))
		}
	}
	*a = assembly{h: h, payload: place, placed: place != nil}
	if a.placed {
		a.mem = ep.f.pool.Get(int(h.head))
	} else {
		a.mem = ep.f.pool.Get(int(h.size))
		a.payload = a.mem.Bytes[h.head:h.size]
	}
	copy(a.mem.Bytes, head)
	a.have = copy(a.payload, payload)
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
	ep.hand(whole.h, whole.mem.Bytes[:whole.h.head], whole.payload, whole.placed, whole.mem)
	whole.mem.Release()
}

// hand hands one frame to the sink.
func (ep *endpoint) hand(h header, head, payload []byte, placed bool, buf *transport.Buffer) {
	in := &ep.f.incoming
	*in = transport.Incoming{ID: h.id, Head: head, Payload: payload, Placed: placed, Buf: buf}
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
	if h.flags&flagAckNow != 0 && ep.state == up && ep.in.accepted != ep.acks.out {
		ep.acks.now = true
		ep.soil()
	}
}

// acked: the peer has accepted n frames.
func (ep *endpoint) acked(n uint64) {
	if ep.led.Held() {
		return
	}
	if was := ep.led.Acked(); n < was || n > ep.out.sent {
		err := fmt.Errorf("%w: %w: the peer acknowledged %d frames after %d, sent are %d",
			transport.ErrProtocol, transport.ErrPosition, n, was, ep.out.sent)
		ep.lost(ep.wrap("receive", transport.ErrProtocol, err))
		return
	}
	_ = ep.led.Ack(n) // in range, as was just checked
	ep.settle()
	ep.room()
}
