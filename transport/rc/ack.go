package rc

import (
	"time"

	"github.com/openbraid/braid/internal/ledger"
)

const (
	ackDelay  = time.Millisecond // the longest that an acknowledgement waits for a segment to ride on
	ackFrames = 256
	ackBytes  = 64 << 10
)

// acks is what the peer is owed.
type acks struct {
	out      uint64 // last acknowledgement that is on its way
	outBytes uint64
	now      bool // don't wait

	debt ledger.Debt[*endpoint] // it may wait a little
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool {
	return ep.in.accepted != ep.acks.out && ep.state == up && ep.writes()
}

// ackDue says whether the acknowledgement is worth a segment of its own now.
func (ep *endpoint) ackDue() bool {
	return ep.in.accepted != ep.acks.out && (ep.acks.now ||
		ep.in.accepted-ep.acks.out >= ackFrames || ep.in.acceptedBytes-ep.acks.outBytes >= ackBytes)
}

// acknowledged: an acknowledgement of everything accepted so far is on its way.
func (ep *endpoint) acknowledged() {
	ep.acks.out, ep.acks.outBytes, ep.acks.now = ep.in.accepted, ep.in.acceptedBytes, false
	ep.f.owing.Remove(&ep.acks.debt)
}

// overdue has those send that have waited long enough.
func (f *iface) overdue(now time.Duration) {
	for ep, ok := f.owing.Overdue(now); ok; ep, ok = f.owing.Overdue(now) {
		ep.acks.now = true
		ep.soil()
	}
}
