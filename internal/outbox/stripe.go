package outbox

import (
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
)

// A large message goes over all lanes at once, in parts without order. When all of them are acknowledged, the frame that closes the
// message goes on the order lane, at the message's place in the order (R11). Parts of the messages behind it go meanwhile, also of
// those behind a fence: a part has no effect until its message is closed.

// ahead is how many messages of the queue may have parts under way.
const ahead = 16

// stripe decides whether a message that is being posted goes in parts: it takes two trips more, which count only while no other message is under
// way. A part is not much smaller than what a message must have to be striped, so that its head is not worth mentioning.
func (b *Box) stripe(r *request.Request) {
	if n, t := len(r.Payload), &b.model; len(b.use) > 1 && (n >= t.Stripe || n >= t.Busy && b.ordered.Under() > 0) {
		r.Part = min(b.Limits.MaxFrame, max(t.Part, n/(2*len(b.use))))
	}
}

// postParts posts parts of the first messages that wait, whoever's turn it is to be closed.
func (b *Box) postParts() (posted int) {
	w := b.scratch
	r := b.pendOrdered.Head()
	for i := 0; i < ahead && r != nil && b.replayAny.Len() == 0; i, r = i+1, r.Next {
		if !b.admit(r) { // in the order of the queue: those behind must not take what those before wait for
			return posted
		}
		if r.Part == 0 {
			continue
		}
		for protocol.Part(r, b.Limits, w.Head[:0], &w.Frame) {
			l := b.pick(min(r.Part, len(r.Payload)))
			if l == nil {
				return posted
			}
			if !b.post(l, r, &w.Frame) {
				return posted
			}
			posted++
		}
	}
	return posted
}

// closeParts posts the frame that closes a message of parts, if all of them are acknowledged.
func (b *Box) closeParts(r *request.Request) (n int, done bool) {
	if len(r.Payload) > 0 || r.Frames > 0 {
		return 0, false // an acknowledgement will wake us
	}
	l := b.laneFor(true, b.book.BarrierOf(r.Epoch), 0)
	if l == nil {
		return 0, false
	}
	w := b.scratch
	protocol.Last(r, w.Head[:0], &w.Frame)
	if !b.post(l, r, &w.Frame) {
		return 0, false
	}
	b.ordered.Enter()
	return 1, true
}
