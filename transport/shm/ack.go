//go:build linux

package shm

import (
	"time"

	"github.com/openbraid/braid/internal/ledger"
)

// ackBytes is how much one acknowledgement covers at most, or what fills a quarter of a window.
const ackBytes = 1 << 20

// heardFrames is up to how many acknowledged frames are left until nothing comes: to end them takes a tenth of what a message takes, and the message is
// waited for. Who sleeps leaves none.
const heardFrames = 32

// acks is what the peer is owed. Who owes is listed without a look at the clock, which takes as long as a slot.
type acks struct {
	ledger.Covered
	listed bool          // in iface.owing
	until  time.Duration // it must go out then; 0: nobody has looked at the clock
	heard  uint64        // position that the peer has acknowledged, of which the books don't know yet; 0: none
}

// said: a slot has carried an acknowledgement.
func (a *acks) said(ack uint32, accepted, bytes uint64) {
	if ack == uint32(accepted) {
		a.Cover(accepted, bytes)
	}
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool {
	return ep.acks.Owes(ep.recv.accepted) && ep.state == up && ep.writes()
}

// overdue says whether the acknowledgement is worth a slot of its own now.
func (ep *endpoint) overdue() bool {
	return ep.acks.Due(ep.recv.accepted, ep.recv.acceptedBytes, min(ackBytes, ep.window/4))
}
