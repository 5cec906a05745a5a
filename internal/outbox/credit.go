package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// credit keeps both sides from holding more messages than was agreed, without a frame ever waiting at the
// head of a lane (R14): the sender knows what its messages cost, the receiver tells what it has handled.
type credit struct {
	sent    uint64 // cost of the messages begun
	granted uint64 // of them, handled by the peer as it told

	taken   uint64 // cost of the peer's messages accepted
	handled uint64
	told    uint64 // of them, to the peer
}

// A receiver tells when a share of its limit was handled. So while a sender has no more than that
// share untold, it may go on: nothing else would ever come.
const share = 8

// admit says whether the peer takes one more message, and counts it. Once for each.
func (b *Box) admit(r *request.Request) bool {
	if r.Cost != 0 {
		return true
	}
	cost, several := wire.MessageCost(len(r.Header), len(r.Payload)), r.Part > 0 || !b.oneFrame(r)
	n := uint64(len(r.Payload))
	if !b.takes(cost) || several && b.unfinished > 0 && b.unfinished+n > b.MaxMessage {
		return false
	}
	r.Cost = cost
	b.credit.sent += cost
	if several {
		r.Total = n
		b.unfinished += n
	}
	return true
}

// takes says whether a message of this cost may be sent now.
func (b *Box) takes(cost uint64) bool {
	open := b.credit.sent - b.credit.granted
	return open+cost <= b.Backlog || open <= b.Backlog/share
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

// Accepted counts a message of the peer that is whole. The error says that the peer does not keep the limit.
func (b *Box) Accepted(cost uint64) error {
	c := &b.credit
	if open := c.taken - c.handled; open > b.OwnBacklog {
		return fmt.Errorf("messages of %d bytes wait to be handled, at most %d may", open, b.OwnBacklog)
	}
	c.taken += cost
	return nil
}

// Handled notes that the user is done with a message, and tells the peer if it is time.
func (b *Box) Handled(cost uint64) {
	b.credit.handled += cost
	if b.creditDue() {
		b.host.Wake()
	}
}

func (b *Box) creditDue() bool {
	c := &b.credit
	return c.handled-c.told > b.OwnBacklog/share
}

// creditDone is the box as the Completer of a Credit, which nobody waits for.
type creditDone Box

func (d *creditDone) Sent(uint64)            {}
func (d *creditDone) Executed(uint64, error) {}

// postCredit tells the peer what was handled. It is a data frame: a lost lane doesn't lose it.
func (b *Box) postCredit() int {
	if !b.creditDue() || b.end != nil {
		return 0
	}
	l := b.pick(wire.CreditSize)
	if l == nil {
		return 0
	}
	w, c := b.scratch, &b.credit
	w.Frame = transport.Frame{ID: wire.IDCredit, Head: wire.Credit{Handled: c.handled}.AppendTo(w.Head[:0]), Done: (*creditDone)(b)}
	if l.Tep.Post(&w.Frame) != transport.Done {
		return 0
	}
	c.told = c.handled
	return 1
}
