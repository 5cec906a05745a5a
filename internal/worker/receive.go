package worker

import (
	"fmt"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// receive executes one data frame: when it returns the frame counts.
func (ep *Endpoint) receive(l *link, in *transport.Incoming) {
	if err := ep.in.Take(l, &l.landing, in); err != nil {
		ep.stats.BadFrames++
		ep.fail(fmt.Errorf("%w: lane %s: %w", outcome.ErrProtocol, l.name(), err))
	}
}

// Refuse implements intake.Lane. If the lane is lost, the count in Lost says that one is owed.
func (l *link) Refuse(m wire.Refused) {
	l.refused.issued++
	l.post(wire.IDRefused, m.AppendTo(l.w.Head[:0]))
}

// refusedArrived: the peer did not carry out an operation of ours.
func (ep *Endpoint) refusedArrived(l *link, m wire.Refused) {
	l.refused.seen++
	err := fmt.Errorf("%w: %v", outcome.ErrAccess, m.Code)
	op := ep.box.Called(m.Op)
	if m.Code == wire.RefusedHandler {
		op, err = "am", fmt.Errorf("%w: id %d", outcome.ErrHandler, m.Detail)
	}
	ep.box.Refused(m.Op, ep.opError(op, outcome.NotExecuted, err))
}

// Instance implements intake.Lane.
func (l *link) Instance() wire.Instance { return l.ID }
