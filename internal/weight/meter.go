package weight

import (
	"math"
	"time"

	"github.com/openbraid/braid/transport"
)

const (
	// stretch is the shortest time from which a rate is computed: several looks, and several frames of a fast lane.
	stretch = 50 * time.Millisecond
	// longest is how long it is waited for an acknowledgement, until silence is a rate.
	longest = time.Second
	// memory is how far back a rate reaches: half of it is older than this.
	memory = 150 * time.Millisecond
	// every is how often a lane is looked at while it has something to do.
	every = 5 * time.Millisecond
	// quiet is a silence that means nothing.
	quiet = 10 * time.Millisecond
	// near is a round trip that makes no difference. Shorter ones differ by who had to wait for a processor when they were measured.
	near = 250 * time.Microsecond
	// far is a round trip, if it is sure, that makes a difference for bulk.
	far = 2 * time.Millisecond
	// queue is how long things must take beyond the round trip, for a lane to be the one that they wait for: more than an
	// acknowledgement is kept back.
	queue = 2 * time.Millisecond
	// bulk is the mean size of frames from which bytes are what counts. What limits smaller ones is mostly a processor.
	bulk = 1 << 10

	// forgive is the time in which what is thought of an unused lane doubles. Each time that it is wrong, it takes twice as long.
	forgive, forgiveMost = 2 * time.Second, 64 * time.Second

	// unknown is the rate of a lane of which nothing is known, in bytes per second: a gigabit.
	unknown = 125e6
	// least is the lowest rate, so that a lane that brought nothing can be asked again.
	least = 1e3
)

// Meter measures one lane. New makes one.
type Meter struct {
	rate    float64 // bytes per second
	most    float64 // up to which an unused lane is forgiven
	perByte float64 // nanoseconds
	trip    float64 // nanoseconds
	doubt   float64 // of trip, what does not count for bulk
	late    float64 // nanoseconds of silence beyond what it needs

	stretched
	at    time.Duration    // of the last look, 0: there was none
	last  transport.Counts // what it saw
	moved time.Duration    // when its acknowledgements last grew, or the lane had nothing to do

	known   bool          // the rate was declared, or measured
	hoped   bool          // it was raised, and not measured since
	forgive time.Duration // in which it doubles while the lane is unused
}

// stretched is a stretch that is not over.
type stretched struct {
	begun time.Duration
	first transport.Counts
	busy  time.Duration // of it the lane had something to do, as far as looks can tell
	bytes uint64        // acknowledged in that time
	under float64       // sum of the bytes under way at the looks at which there were any,
	looks int           // and their number
}

// New is the meter of a lane whose interface declares so many bytes per second; 0: it does not say.
func New(declared float64) Meter {
	known := declared > 0
	if !known {
		declared = unknown
	}
	m := Meter{most: declared, known: known, trip: float64(near), forgive: forgive}
	m.set(declared)
	return m
}

func (m *Meter) set(rate float64) {
	m.rate = max(rate, least)
	m.perByte = 1e9 / m.rate
}

// Declare takes what the interface says from now on, 0 that it does not say: it is believed until it is measured. What was found to be less than
// that is not the interface's doing, unless it became faster.
func (m *Meter) Declare(declared float64) {
	if declared <= 0 {
		return
	}
	if declared > m.most || m.rate > declared {
		m.set(declared)
	}
	m.most, m.known, m.hoped, m.forgive = declared, true, true, forgive
	m.stretched = stretched{begun: m.at, first: m.last}
}

// Known says whether Rate was ever declared or measured: else it is a guess.
func (m *Meter) Known() bool { return m.known }

// Rate is what the lane is thought to carry, in bytes per second.
func (m *Meter) Rate() float64 { return m.rate }

// Cost is the time until something of so many bytes, posted behind others, will be acknowledged, in nanoseconds.
func (m *Meter) Cost(backlog uint64, size int) float64 {
	return m.trip + m.late + (float64(backlog)+float64(size))*m.perByte
}

// Doubt is the part of Cost that is no reason to keep bulk from the lane: its round trip, while that is not sure, or so short that a
// busy host makes the difference. One that is too long by some milliseconds would keep it from all that others have room for.
func (m *Meter) Doubt() float64 { return m.doubt }

// Look takes the lane's books, and its round trip, 0 if that is not known, and whether that was measured often enough. frame is the largest piece of which the lane says only
// at its end that it has it.
func (m *Meter) Look(now time.Duration, c transport.Counts, trip time.Duration, sure bool, frame int) {
	m.trip, m.doubt = max(float64(trip), float64(near)), 0
	if !sure || trip < far {
		m.doubt = m.trip - float64(near)
	}
	under, was := c.PostedBytes-c.AckedBytes, m.last.PostedBytes-m.last.AckedBytes
	since, acked := now-m.at, c.AckedBytes-m.last.AckedBytes
	if m.at == 0 {
		m.moved, since, acked, m.first, m.begun = now, 0, 0, c, now
	}
	if c.Acked != m.last.Acked || under == 0 {
		m.moved = now
	}
	m.last, m.at = c, now
	m.late = max(0, float64(now-m.moved-quiet)-2*float64(frame)*m.perByte)
	switch {
	case was > 0 && under > 0:
		m.busy += since
		m.bytes += acked
	case was > 0 || under > 0: // from when, or until when, is not known
		m.busy += min(since/2, every/2)
		m.bytes += acked
	}
	if under > 0 {
		m.under += float64(under)
		m.looks++
	}
	if dt := now - m.begun; dt >= stretch && (m.bytes > 0 || under == 0 || dt >= longest) {
		m.sample(now, frame)
		m.stretched = stretched{begun: now, first: c}
	}
}

// rates are what the lane carried when it had something to do, and whether things waited for it; and what it carried all in all.
func (m *Meter) rates(now time.Duration, frame int) (busy float64, full bool, all float64) {
	frames, bytes := m.last.Acked-m.first.Acked, m.last.AckedBytes-m.first.AckedBytes
	all = float64(bytes) * 1e9 / float64(now-m.begun)
	if m.busy == 0 || m.looks == 0 {
		return 0, false, all
	}
	if m.bytes == 0 {
		m.bytes = uint64(frame) // perhaps all but the last byte of one
	}
	busy = float64(m.bytes) * 1e9 / float64(m.busy)
	return busy, bytes >= bulk*frames && m.under*1e9 > busy*float64(m.looks)*(float64(queue)+2*m.trip), all
}

// sample takes what was carried in a stretch.
func (m *Meter) sample(now time.Duration, frame int) {
	rate, full, all := m.rates(now, frame)
	switch {
	case !full && all < m.rate:
		m.forgiven(now - m.begun)
		return
	case !full: // it can do more than was thought
		m.set((m.rate + all) / 2)
	case m.hoped && rate < m.rate: // it can't, as before
		if rate < m.rate/2 {
			m.forgive = min(2*m.forgive, forgiveMost)
		}
		m.set(rate)
	default:
		m.set(m.rate * math.Pow(rate/m.rate, float64(m.busy)/float64(m.busy+memory))) // as fast if it is wrong by orders of magnitude
		if m.hoped {
			m.forgive = forgive
		}
	}
	m.known, m.hoped = m.known || full, false
	m.most = max(m.most, m.rate)
}

// forgiven lets what is thought of a lane that has little to do rise. Else one that was slow once would never be tried again.
func (m *Meter) forgiven(dt time.Duration) {
	if m.rate < m.most {
		m.set(min(m.most, m.rate*math.Exp2(float64(dt)/float64(m.forgive))))
		m.hoped = true
	}
}
