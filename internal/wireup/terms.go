package wireup

import "github.com/openbraid/braid/internal/wire"

// Terms are what a side offers, and what the two agree on.
type Terms struct {
	Mode       wire.Mode
	MaxFrame   uint32
	MaxMessage uint64 // that the peer accepts
	Handover   bool
	Rails      bool // who dialed wants to be told of the other's addresses
	Signal     bool // puts with a signal
	Atomic     bool // atomic operations
	Tag        bool // tagged messages
	Offer      bool // offers of active messages
	TagPut     bool // offered messages that their sender puts
}

// MinFrame is the smallest frame size that a side may offer: heads with a full user's header must fit.
const MinFrame = 4096

// Caps are the optional capabilities in a Hello or HelloAck.
func (t Terms) Caps() (c wire.Caps) {
	if t.Handover {
		c |= wire.CapHandover
	}
	if t.Rails {
		c |= wire.CapRails
	}
	if t.Signal {
		c |= wire.CapSignal
	}
	if t.Atomic {
		c |= wire.CapAtomic
	}
	if t.Tag {
		c |= wire.CapTag
	}
	if t.Offer {
		c |= wire.CapOffer
	}
	if t.TagPut {
		c |= wire.CapTagPut
	}
	return c
}

// Agree joins what this side offers with what the peer said. The dialer's mode rules, but for failover both must know
// how to hand over; the peer's MaxMessage bounds what is sent to it.
func (t Terms) Agree(mode wire.Mode, caps wire.Caps, maxFrame uint32, maxMessage uint64) (Terms, error) {
	if maxFrame < MinFrame {
		return t, &RefusedError{wire.RejectBad, "the peer's largest frame is too small to be of use"}
	}
	t.Handover = t.Handover && caps&wire.CapHandover != 0
	t.Rails = t.Rails && caps&wire.CapRails != 0
	t.Signal = t.Signal && caps&wire.CapSignal != 0
	t.Atomic = t.Atomic && caps&wire.CapAtomic != 0
	t.Tag = t.Tag && caps&wire.CapTag != 0
	t.Offer = t.Offer && caps&wire.CapOffer != 0
	t.TagPut = t.TagPut && caps&wire.CapTagPut != 0
	t.Mode = mode
	if mode == wire.ModeFailover && !t.Handover {
		t.Mode = wire.ModePeer
	}
	t.MaxFrame = min(t.MaxFrame, maxFrame)
	t.MaxMessage = maxMessage
	return t, nil
}
