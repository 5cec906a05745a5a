package cost

import (
	"math"
	"math/bits"
	"time"

	"github.com/openbraid/braid/internal/wire"
)

// Lane is what is known of one that new work goes on.
type Lane struct {
	ID       wire.Instance
	Trip     time.Duration // round trip of a small frame; 0: not known
	Rate     float64       // bytes per second, positive
	Known    bool          // Rate is declared, or was measured
	Frame    time.Duration // what a frame takes of both sides' processors, besides its bytes; 0: not known
	ZeroCopy int           // payload from which it sends without a copy; 0: never
	Direct   bool          // over it memory of the peer's can be mapped here
	Order    bool          // messages go on it
}

// Bounds are what the two sides agreed on, and what was set.
type Bounds struct {
	MaxFrame   int        // bytes of a frame; 0: nothing is agreed on yet
	MaxMessage uint64     // bytes of a message
	Forced     Thresholds // 0: as the lanes are; Busy, Part and Put are never set
	Puts       bool       // the peer says where it has room for what is offered
	Scheme     Scheme
}

// Scheme is by which of the two ways the payload of what is offered comes to its receiver.
type Scheme uint8

const (
	Auto  Scheme = iota // as is best, which is ByGet on all lanes there are
	ByGet               // he reads it
	ByPut               // its sender puts it where he has room
)

// Thresholds are what the post path compares the size of an operation with.
type Thresholds struct {
	ZeroCopy int // payload from which a frame is sent from where it stands; 0: never
	Eager    int // bytes up to which a message with a tag, or that is offered, is sent without asking whether it is wanted
	Stripe   int // bytes from which a message goes over several lanes at once, if no other is under way
	Busy     int // the same while others are
	Part     int // the smallest part of such a message
	Put      int // bytes from which what is offered is put by its sender; 0: never
}

const (
	// What a machine takes. Source: `go run ./bench --only '^cost/(copy|lend|shm/frame|shm/(put|get))'`, docs/performance.md.

	// Copying is what a byte takes that is copied once more, from memory that is in no cache.
	Copying = 0.08 // ns
	// Lending is what memory takes that is registered for one message.
	Lending = 700 * time.Nanosecond
	// Mapping and Direct are what a copy takes in memory that is mapped here: by itself, and for each byte that is in a cache.
	Mapping, Direct = 150 * time.Nanosecond, 0.02 // ns
	// cutting is how long the lanes must be busy with a message of many for the cutting not to be worth mentioning.
	cutting = 50 * time.Microsecond
	// unknownTrip and unknownFrame stand where a lane does not say.
	unknownTrip, unknownFrame = 50 * time.Microsecond, time.Microsecond

	// What a threshold may be, whatever lanes are thought to bring; powers of two are chosen, so that they don't dither.
	leastEager, MostEager   = 16 << 10, 256 << 10
	leastStripe, mostStripe = 32 << 10, 1 << 20
	// usual is that of lanes of which nothing is known.
	usualEager, usualStripe = 64 << 10, 256 << 10
	// leastPart: below it frames stay together on one lane.
	leastPart = 16 << 10
)

func (l *Lane) trip() float64 {
	if l.Trip <= 0 {
		return float64(unknownTrip)
	}
	return float64(l.Trip)
}

func (l *Lane) frame() float64 {
	if l.Frame <= 0 {
		return float64(unknownFrame)
	}
	return float64(l.Frame)
}

// Choose is what the post path is to go by on these lanes.
func Choose(lanes []Lane, b Bounds) Thresholds {
	t := Thresholds{ZeroCopy: b.Forced.ZeroCopy, Eager: b.Forced.Eager, Stripe: b.Forced.Stripe}
	if t.ZeroCopy == 0 {
		for i := range lanes { // any of them may get the frame: where copying ends everywhere
			t.ZeroCopy = max(t.ZeroCopy, lanes[i].ZeroCopy)
		}
	}
	if t.Eager == 0 {
		t.Eager = eager(lanes, b)
	}
	t.Put = puts(b)
	t.Eager = int(min(uint64(t.Eager), b.MaxMessage)) // what the peer takes no messages of can still be read
	if t.Stripe != 0 {
		t.Busy, t.Part = t.Stripe, t.Stripe/4
		return t
	}
	t.Stripe, t.Busy = stripe(lanes)
	t.Part = max(t.Busy/4, leastPart)
	return t
}

// eager is up to where one more copy is sooner done than an offer is answered.
func eager(lanes []Lane, b Bounds) int {
	n := float64(usualEager)
	if i := order(lanes); i >= 0 {
		l := &lanes[i]
		n = (l.trip() + 2*l.frame() + float64(Lending)) / Copying
	}
	most := MostEager
	if b.MaxFrame > 0 {
		most = min(most, max(b.MaxFrame-wire.AMSize-wire.TagOfferSize, 1)) // in one frame: what is larger would be copied twice
	}
	return min(below(n, leastEager, MostEager), most)
}

// puts is from where what is offered is put by its sender: everything, if that is set. Both ways have the same trips, and the frames that ask cost nothing beside those that
// have a thousand times their bytes; and a receiver that reads asks for no more than it was promised answers. So by itself nothing is put (ADR 41).
func puts(b Bounds) int {
	if b.Puts && b.Scheme == ByPut {
		return 1
	}
	return 0
}

// stripe is from where what is gained by sending on all lanes is more than what it takes: if nothing else is under way two trips more, for the
// message is closed when its parts are acknowledged; else what it costs to cut it.
func stripe(lanes []Lane) (idle, busy int) {
	var sum, best, trip, frame float64
	for i := range lanes {
		l := &lanes[i]
		if !l.Known {
			return usualStripe, usualStripe
		}
		sum, best, trip, frame = sum+l.Rate, max(best, l.Rate), max(trip, l.trip()), max(frame, l.frame())
	}
	if len(lanes) < 2 {
		return usualStripe, usualStripe
	}
	busy = above(sum*cutting.Seconds(), leastStripe, usualStripe)
	gain := 1e9/best - 1e9/sum // ns for each byte
	return max(busy, above((trip+2*frame)/gain, leastStripe, mostStripe)), busy
}

// below and above are the powers of two next to n, within bounds that are such.
func below(n float64, least, most int) int {
	if !(n < float64(most)) {
		return most
	}
	return max(least, 1<<(bits.Len(uint(max(n, 1)))-1))
}

func above(n float64, least, most int) int {
	if !(n < float64(most)) {
		return most
	}
	return max(least, 1<<bits.Len(uint(math.Ceil(max(n, 1)))-1))
}

// order is the index of the lane that messages go on: the one that says so, or the one that is nearest; -1 if there is none.
func order(lanes []Lane) int {
	best := -1
	for i := range lanes {
		if lanes[i].Order {
			return i
		}
		if best < 0 || lanes[i].trip() < lanes[best].trip() {
			best = i
		}
	}
	return best
}
