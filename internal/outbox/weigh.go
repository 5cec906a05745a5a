package outbox

import (
	"time"

	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/transport"
)

// What has no order goes where it will be acknowledged soonest, by what each lane brings and has under way (internal/weight). What has one
// goes on the order lane; when another lane has been much better for a while, the messages move there: new ones wait until those
// under way are acknowledged, so that none overtakes (R10). docs/weights.md tells why and when.

const (
	perMbit = 125_000 // bytes per second

	// small is the size below which operations stay together on one lane, and share its writes.
	small = 16 << 10
	// probe is the size by which lanes are compared when it is not for one frame: what a stream of messages has under way.
	probe = 1 << 20

	// better is how much sooner a lane must be for the messages to move there.
	better = 2
)

// orderLane is where a frame with an order promise may be posted now, or nil: R10. While frames are
// unacknowledged on another lane, lost or to be left, nobody may pass them by.
func (b *Box) orderLane() *seat {
	o := &b.ordered
	if s := o.At(); s != nil && !o.Moving() && s.State() == lane.Up {
		return s
	}
	if !o.Settle() {
		return nil
	}
	if s := o.At(); s == nil || s.State() != lane.Up {
		o.Join(b.soonest(probe, false))
	}
	return o.At()
}

// orderedLeft takes a frame off the order lane. The last one ends the wait of a move.
func (b *Box) orderedLeft() {
	if b.ordered.Leave() {
		b.host.Wake()
	}
}

// move makes s the order lane as soon as no message is under way. s is up.
func (b *Box) move(s *seat) {
	o := &b.ordered
	if !o.Move(s) {
		return
	}
	b.Moves++
	if o.Under() > 0 && o.At().State() == lane.Up {
		o.At().Tep.RequestAck()
		b.host.Posted()
	}
}

// Prefer moves the messages to a lane, by its instance, as Weigh does to a better one, and says whether that lane is up. It is for simulations and
// litmus programs, which move them at any moment; Weigh takes a quarter of a second to decide.
func (b *Box) Prefer(instance string) bool {
	for _, s := range b.up {
		if s.ID.String() == instance {
			b.move(s)
			return true
		}
	}
	return false
}

// Declared takes how fast the interfaces of the lanes are from now on, in Mbit/s, 0: not known. What has no order goes by it at once.
func (b *Box) Declared(now time.Duration, speed func(transport.Endpoint) (near bool, mbit int)) {
	for _, s := range b.up {
		if _, mbit := speed(s.Tep); mbit != s.Speed {
			s.Speed = mbit
			s.meter.Declare(float64(mbit) * perMbit)
			b.Weigh(now)
		}
	}
}

// soonest is the lane on which something of so many bytes would be acknowledged first, nil if there is none. For bulk a round trip
// counts only if it is long, and sure.
func (b *Box) soonest(size int, bulk bool) *seat {
	var best *seat
	var least float64
	for _, s := range b.use {
		c := s.meter.Cost(s.Backlog(), size)
		if bulk {
			c -= s.meter.Doubt()
		}
		if best == nil || c < least {
			best, least = s, c
		}
	}
	return best
}

// pick is the lane for a frame without order promise, nil if there is none. If it has no room, the frame is acknowledged sooner by
// waiting for that than on any other.
func (b *Box) pick(size int) *seat {
	if len(b.use) == 1 {
		return b.use[0]
	}
	if size >= small {
		return b.soonest(size, true)
	}
	if s := b.lastPut; s != nil && s.Backlog() < b.Stay {
		return s
	}
	s := b.soonest(size, false)
	if s != nil && !s.poor { // else it is only the soonest until it has a few
		b.lastPut = s
	}
	return s
}

// Weigh looks at the books of the lanes. It is called every few milliseconds while something is under way.
func (b *Box) Weigh(now time.Duration) {
	for _, s := range b.up {
		s.meter.Look(now, s.Tep.Counts(), s.Trip, s.Sure, b.Limits.MaxFrame)
	}
	b.choose()
	if len(b.up) < 2 {
		return
	}
	b.elect(now)
	b.host.Wake() // another lane may be the soonest now than the one whose room is waited for
}

// Brings is what a lane is thought to carry, in bytes per second, and whether messages go on it; 0 if it is not up.
func (b *Box) Brings(l *lane.Lane) (rate float64, order bool) {
	if s := b.of(l); s != nil && l.State() == lane.Up {
		return s.meter.Rate(), b.ordered.At() == s
	}
	return 0, false
}

// elect moves the messages, and small operations, to the best lane.
func (b *Box) elect(now time.Duration) {
	var best *seat
	for _, s := range b.use {
		if best == nil || s.merit() < best.merit() {
			best = s
		}
	}
	for _, s := range b.up {
		s.poor = s.merit() > better*best.merit()
	}
	if b.lastPut != nil && b.lastPut.poor {
		b.lastPut = nil
	}
	o := &b.ordered
	if s := o.At(); s == nil || o.Moving() || s.State() != lane.Up || !s.poor {
		best = nil
	}
	if b.rival.Decide(now, best) {
		b.move(best)
	}
}

// merit is what lanes are compared by, whatever is under way on them: less is better.
func (s *seat) merit() float64 { return s.meter.Cost(0, probe) }
