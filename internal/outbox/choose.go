package outbox

import (
	"slices"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/transport"
)

// choose finds anew what sizes are compared with when something is posted: when lanes change, and whenever they were weighed.
func (b *Box) choose() {
	m := &b.model
	m.Bounds = cost.Bounds{MaxFrame: b.Limits.MaxFrame, MaxMessage: b.MaxMessage, Puts: b.Clears, Scheme: b.Scheme, Forced: b.Forced}
	m.Lanes = m.Lanes[:0]
	for _, s := range b.use {
		_, lends := s.Tep.(transport.Borrower)
		m.Lanes = append(m.Lanes, cost.Lane{ID: s.ID, Trip: s.Trip, Rate: s.meter.Rate(), Known: s.meter.Known(), Frame: s.PerFrame, ZeroCopy: s.ZeroCopy, Direct: lends, Order: s == b.ordered.At()})
	}
	m.Thresholds = cost.Choose(m.Lanes, m.Bounds)
	b.Limits.ZeroCopy, b.ZeroCopy, b.MaxFrame = m.ZeroCopy, m.ZeroCopy, m.MaxFrame
}

// Eager is up to how many bytes a tagged message is sent without asking whether it is wanted.
func (b *Box) Eager() int { return b.model.Eager }

// Explain is what is chosen now, for people.
func (b *Box) Explain() cost.Model {
	b.choose()
	m := b.model
	m.Lanes = slices.Clone(m.Lanes)
	return m
}
