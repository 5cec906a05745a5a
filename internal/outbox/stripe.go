package outbox

import (
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// A large message goes over all lanes at once, in parts without order. When all of them are acknowledged, the frame that closes the
// message goes on the order lane, at the message's place in the order (R11). Parts of the messages behind it go meanwhile.

// ahead is how many messages of the queue may have parts under way.
const ahead = 16

// stripe decides whether a message that is being posted goes in parts. A part is not much smaller than what a message must
// have to be striped, so that its head is not worth mentioning.
func (b *Box) stripe(r *request.Request) {
	if n := len(r.Payload); len(b.up) > 1 && n >= b.Stripe {
		r.Part = min(b.Limits.MaxFrame, max(b.Stripe/4, n/(2*len(b.up))))
	}
}

// postParts posts parts of the first messages that wait, whoever's turn it is to be closed.
func (b *Box) postParts() (posted int) {
	w := b.scratch
	r := b.pendOrdered.Head()
	for i := 0; i < ahead && r != nil && b.replayAny.len() == 0; i, r = i+1, r.Next {
		if !b.admit(r) { // in the order of the queue: those behind must not take what those before wait for
			return posted
		}
		if r.Part == 0 {
			continue
		}
		for protocol.Part(r, b.Limits, w.Head[:0], &w.Frame) {
			l := b.pick()
			if l == nil {
				return posted
			}
			s := l.Tep.Post(&w.Frame)
			if s != transport.Done && s != transport.Pending {
				return posted
			}
			protocol.Taken(r, &w.Frame, s)
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
	l := b.orderLane()
	if l == nil {
		return 0, false
	}
	w := b.scratch
	protocol.Last(r, w.Head[:0], &w.Frame)
	s := l.Tep.Post(&w.Frame)
	if s != transport.Done && s != transport.Pending {
		return 0, false
	}
	protocol.Taken(r, &w.Frame, s)
	b.ordered.unacked++
	return 1, true
}
