package weight_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/weight"
	"github.com/openbraid/braid/transport"
	"pgregory.net/rapid"
)

const (
	look  = 5 * time.Millisecond
	trip  = 100 * time.Microsecond
	frame = 256 << 10
)

// lane carries frames at a rate, and acknowledges each at its end.
type lane struct {
	weight.Meter
	rate float64 // bytes per second
	now  time.Duration
	done float64 // bytes carried
	c    transport.Counts
}

func newLane(declared, rate float64) *lane { return &lane{Meter: weight.New(declared), rate: rate} }

// post puts a frame on it.
func (l *lane) post(size int) {
	if l.c.PostedBytes == l.c.AckedBytes {
		l.done = float64(l.c.AckedBytes)
	}
	l.c.Posted++
	l.c.PostedBytes += uint64(size)
}

// run lets time pass; each millisecond feed keeps so many bytes under way in frames of the size.
func (l *lane) run(d time.Duration, under, size int) {
	const step = 250 * time.Microsecond
	for end := l.now + d; l.now < end; {
		for size > 0 && l.c.PostedBytes-l.c.AckedBytes+uint64(size) <= uint64(under) {
			l.post(size)
		}
		l.now += step
		l.done = min(l.done+l.rate*step.Seconds(), float64(l.c.PostedBytes))
		for n := uint64(max(size, 1)); l.c.Acked < l.c.Posted && float64(l.c.AckedBytes+n) <= l.done; {
			l.c.Acked++
			l.c.AckedBytes += n
		}
		if l.now%look == 0 {
			l.Look(l.now, l.c, trip, true, frame)
		}
	}
}

// within says whether the rate is what the lane carries, but for a share.
func (l *lane) within(t *testing.T, what string, share float64) {
	t.Helper()
	if q := l.Rate() / l.rate; q < 1-share || q > 1+share {
		t.Errorf("%s: thought to carry %.1f MB/s, carries %.1f", what, l.Rate()/1e6, l.rate/1e6)
	}
}

// TestFull: a lane for which things wait is known within half a second, whatever it declared, and known anew when it changes.
func TestFull(t *testing.T) {
	for _, declared := range []float64{0, 12.5e6, 125e6, 1250e6} {
		for _, rate := range []float64{5e6, 12.5e6, 125e6, 1000e6} {
			l := newLane(declared, rate)
			l.run(time.Second, 4<<20, frame)
			l.within(t, "after a second", 0.12)
			l.rate = rate / 3
			l.run(time.Second, 4<<20, frame)
			l.within(t, "after it became slower", 0.2)
			l.rate = rate
			l.run(time.Second, 4<<20, frame)
			l.within(t, "after it became faster", 0.12)
		}
	}
}

// TestTrickle: a lane that is not waited for is not taken for slow, be it that it is idle now and then, that what is under way is little,
// or that it is in small pieces.
func TestTrickle(t *testing.T) {
	const declared = 1250e6
	l := newLane(declared, declared)
	for range 200 {
		l.post(64 << 10)
		l.run(10*time.Millisecond, 0, 0)
	}
	if l.Rate() < declared {
		t.Errorf("idle now and then: %.1f MB/s", l.Rate()/1e6)
	}
	l = newLane(declared, 30e6) // a processor that can't post faster, not the lane
	l.run(time.Second, 20_000, 1000)
	if l.Rate() < declared {
		t.Errorf("little under way: %.1f MB/s", l.Rate()/1e6)
	}
	l = newLane(declared, 30e6)
	l.run(time.Second, 600_000, 40)
	if l.Rate() < declared {
		t.Errorf("small pieces: %.1f MB/s", l.Rate()/1e6)
	}
}

// TestBursts: of a lane for which things wait now and then, what counts is the time in which it had something to do.
func TestBursts(t *testing.T) {
	l := newLane(0, 100e6)
	for range 20 {
		for range 16 {
			l.post(frame) // 42 ms
		}
		l.run(100*time.Millisecond, 0, frame)
	}
	l.within(t, "busy for two fifths of the time", 0.2)
}

// TestForgiven: a lane that was slow, and is not used since, is tried again after some time, and after more if that was wrong.
func TestForgiven(t *testing.T) {
	l := newLane(1250e6, 12.5e6)
	l.run(time.Second, 4<<20, frame)
	slow := l.Rate()
	until := func() time.Duration {
		l.run(time.Second, 0, frame) // to its end
		begun := l.now
		for l.Rate() < 8*slow && l.now-begun < 5*time.Minute {
			l.run(100*time.Millisecond, 0, 0)
		}
		return l.now - begun
	}
	first := until()
	if first < 3*time.Second || first > 8*time.Second {
		t.Errorf("tried again after %v", first)
	}
	l.run(500*time.Millisecond, 4<<20, frame)
	l.within(t, "tried again", 0.2)
	if again := until(); again < first*3/2 {
		t.Errorf("tried again after %v, and then after %v", first, again)
	}
	l.run(10*time.Minute, 0, 0)
	if l.Rate() > 1250e6 || l.Rate() < 1249e6 {
		t.Errorf("forgiven up to %.1f MB/s, declared are 1250", l.Rate()/1e6)
	}
	l.rate = 2500e6 // it was right to try
	l.run(time.Second, 16<<20, frame)
	l.within(t, "fast again", 0.2)
	l.rate = 12.5e6
	l.run(2*time.Second, 4<<20, frame)
	if last := until(); last > first*5/4 {
		t.Errorf("tried again after %v at first, and, where trying was right in between, after %v", first, last)
	}
}

// TestLate: a lane that is silent though something is under way costs what it was silent, beyond what its pieces need.
func TestLate(t *testing.T) {
	l := newLane(0, 125e6)
	l.run(time.Second, 1<<20, frame)
	calm := l.Cost(0, frame)
	l.rate = 0
	l.run(50*time.Millisecond, 1<<20, frame)
	if got := l.Cost(0, frame) - calm; got < 30e6 || got > 50e6 {
		t.Errorf("silent for 50 ms, it costs %v more", time.Duration(got))
	}
	l.rate = 125e6
	l.run(10*time.Millisecond, 1<<20, frame)
	if got := l.Cost(0, frame) - calm; got > 2e6 {
		t.Errorf("10 ms after the silence it costs %v more", time.Duration(got))
	}
}

// TestCost: what takes longer costs more.
func TestCost(t *testing.T) {
	fast, slow := weight.New(1250e6), weight.New(125e6)
	if f, s := fast.Cost(4<<20, frame), slow.Cost(0, frame); f < s {
		t.Errorf("4.25 MiB at 1.25 GB/s cost %v, 256 KiB at 125 MB/s %v", time.Duration(f), time.Duration(s))
	}
	if f, s := fast.Cost(1<<20, frame), slow.Cost(0, frame); f > s {
		t.Errorf("1.25 MiB at 1.25 GB/s cost %v, 256 KiB at 125 MB/s %v", time.Duration(f), time.Duration(s))
	}
}

// TestDoubt: bulk does not care for a round trip that is not sure, or short; but for one that is long.
func TestDoubt(t *testing.T) {
	bulk := func(trip time.Duration, sure bool) float64 {
		m := weight.New(0)
		m.Look(1, transport.Counts{}, trip, sure, frame)
		if c := m.Cost(0, frame) - m.Cost(0, 0); c < 2e6 || c > 2.2e6 {
			t.Errorf("256 KiB at a gigabit take %v", time.Duration(c))
		}
		return m.Cost(0, frame) - m.Doubt()
	}
	near := bulk(10*time.Microsecond, true)
	if c := bulk(40*time.Millisecond, false); c != near {
		t.Errorf("40 ms, not sure: %v beside %v", time.Duration(c), time.Duration(near))
	}
	if c := bulk(1500*time.Microsecond, true); c != near {
		t.Errorf("1.5 ms: %v beside %v", time.Duration(c), time.Duration(near))
	}
	if c := bulk(40*time.Millisecond, true); c < near+39e6 {
		t.Errorf("40 ms: %v beside %v", time.Duration(c), time.Duration(near))
	}
}

// TestAnyBooks: whatever the books say, a rate and costs are numbers that can be compared.
func TestAnyBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := weight.New(float64(r.Int64N(3)) * 1e8 * r.Float64())
		var c transport.Counts
		now := time.Duration(0)
		for range 200 {
			now += time.Duration(r.Int64N(1 << r.IntN(40)))
			n, bytes := r.Uint64N(1<<r.IntN(20)), r.Uint64N(1<<r.IntN(50))
			c.Posted, c.PostedBytes = c.Posted+n, c.PostedBytes+bytes
			if r.IntN(2) == 0 {
				c.Acked, c.AckedBytes = c.Posted, c.PostedBytes
			}
			m.Look(now, c, time.Duration(r.Int64N(1<<30)), r.IntN(2) == 0, frame)
			for _, v := range []float64{m.Rate(), m.Cost(c.PostedBytes-c.AckedBytes, frame)} {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Fatalf("%v after %+v", v, c)
				}
			}
		}
	})
}

func BenchmarkCost(b *testing.B) {
	m := weight.New(0)
	var sum float64
	for i := range b.N {
		sum += m.Cost(uint64(i), 64)
	}
	_ = sum
}

// TestDeclare: an interface that says that it is slower is believed at once, and one that is faster; what was measured below both stays.
func TestDeclare(t *testing.T) {
	m := weight.New(1250e6)
	m.Declare(12.5e6)
	if m.Rate() != 12.5e6 {
		t.Errorf("declared to have become slower: %.1f MB/s", m.Rate()/1e6)
	}
	m.Declare(125e6)
	if m.Rate() != 125e6 {
		t.Errorf("and faster again: %.1f MB/s", m.Rate()/1e6)
	}
	m.Declare(0)
	if m.Rate() != 125e6 {
		t.Errorf("without a word: %.1f MB/s", m.Rate()/1e6)
	}
	l := newLane(125e6, 5e6)
	l.run(time.Second, 4<<20, frame)
	l.Declare(60e6)
	l.within(t, "slower, and still faster than what it was measured to carry", 0.12)
	l.Declare(1250e6)
	l.rate = 1000e6
	l.run(time.Second, 4<<20, frame)
	l.within(t, "much faster", 0.12)
}
