package outbox

import (
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// admit says whether the peer takes one more message, and counts it. Once for each.
func (b *Box) admit(r *request.Request) bool {
	if r.Cost != 0 {
		return true
	}
	cost := wire.MessageCost(len(r.Header), len(r.Payload))
	unfinished := uint64(0)
	if r.Part > 0 || !protocol.OneFrame(r, b.Limits) {
		unfinished = uint64(len(r.Payload))
	}
	if !b.credit.Takes(cost, b.Backlog) || unfinished > 0 && !b.credit.Holds(unfinished, b.MaxMessage) {
		return false
	}
	r.Cost, r.Total = cost, unfinished
	b.credit.Begin(cost, unfinished)
	return true
}

// Granted takes a Credit of the peer.
func (b *Box) Granted(h wire.Credit) error {
	more, err := b.credit.Grant(h.Handled)
	if more {
		b.host.Wake()
	}
	return err
}
