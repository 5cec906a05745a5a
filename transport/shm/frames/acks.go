package frames

import (
	"time"

	"github.com/openbraid/braid/internal/ledger"
)

// AckBytes is how much one acknowledgement covers at most, or what fills a quarter of a window.
const AckBytes = 1 << 20

// Acks is what the peer is owed. Who owes is listed without a look at the clock, which takes as long as a slot.
type Acks struct {
	ledger.Covered
	Listed bool          // among those who owe
	Until  time.Duration // it must go out then; 0: nobody has looked at the clock
	Heard  uint64        // position that the peer has acknowledged, of which the books don't know yet; 0: none
}

// Said notes that a slot has carried an acknowledgement.
func (a *Acks) Said(ack uint32, accepted, bytes uint64) {
	if ack == uint32(accepted) {
		a.Cover(accepted, bytes)
	}
}
