package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/owed"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// credit keeps both sides from holding more messages than was agreed, without a frame ever waiting at the
// head of a lane (R14): the sender knows what its messages cost, the receiver tells what it has handled.
type credit struct {
	sent    uint64 // cost of the messages begun
	granted uint64 // of them, handled by the peer as it told

	unfinished uint64 // bytes of messages that the peer may hold unfinished
}

// admit says whether the peer takes one more message, and counts it. Once for each.
func (b *Box) admit(r *request.Request) bool {
	if r.Cost != 0 {
		return true
	}
	cost, several := wire.MessageCost(len(r.Header), len(r.Payload)), r.Part > 0 || !b.oneFrame(r)
	n := uint64(len(r.Payload))
	if !b.takes(cost) || several && b.credit.unfinished > 0 && b.credit.unfinished+n > b.MaxMessage {
		return false
	}
	r.Cost = cost
	b.credit.sent += cost
	if several {
		r.Total = n
		b.credit.unfinished += n
	}
	return true
}

// takes says whether a message of this cost may be sent now.
func (b *Box) takes(cost uint64) bool {
	open := b.credit.sent - b.credit.granted
	return open+cost <= b.Backlog || open <= b.Backlog/owed.Share
}

// Granted takes a Credit of the peer.
func (b *Box) Granted(h wire.Credit) error {
	c := &b.credit
	if h.Handled > c.sent {
		return fmt.Errorf("credit for messages that were never sent")
	}
	if h.Handled > c.granted { // replays may come late
		c.granted = h.Handled
		b.host.Wake()
	}
	return nil
}
