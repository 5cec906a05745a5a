package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

const (
	kib   = 1 << 10
	chunk = 128 * kib // a large operation of a haul: four frames
	haulM = 9         // the message that a haul sends
)

// haul is a stream of operations from a to b over lanes of known rates: so many of one kind and size under way. Time is virtual: what
// it takes is the network's, and the engine's choices.
type haul struct {
	*world
	kind  request.Kind
	size  int
	depth int

	buf   []byte
	key   wire.RKey
	open  []*request.Request
	done  uint64        // bytes of operations that ended
	ended time.Duration // the last one did
	gap   time.Duration // the longest time without an end
}

// newHaul connects two hosts with a lane for each rate. All is an eighth of what it is with frames of 256 KiB, and the times are the same: rates
// are in an eighth of.
func newHaul(t *testing.T, rates ...int) *haul {
	t.Helper()
	s := shape{lanes: len(rates), mode: wire.ModeFailover, regions: 1, slot: 8, ops: 1,
		net:    sim.Config{MaxHead: 2048, MaxFrame: chunk / 4, Window: 4 * chunk, Calm: true},
		config: config.Config{Bounds: config.Bounds{Window: 4 * chunk, MaxFrame: chunk / 4, Stripe: chunk / 4}}}
	h := &haul{world: newWorld(1, s), buf: make([]byte, chunk)}
	for i, r := range rates {
		h.rate(i, r, 50*time.Microsecond)
	}
	if !h.connect() || !h.until(time.Second, func() bool { return len(h.up()) == len(rates) }) {
		t.Fatal(h.report())
	}
	far := h.b.mem.Add(make([]byte, chunk))
	h.key = far.Key(wire.Read|wire.Write, h.b.incarnation)
	h.b.eng.Calls().Watch = nil
	h.b.eng.Handle(haulM, func(*delivery.Message) {})
	return h
}

// mega is the unit of rates.
const mega = 125_000

// rate sets what a lane carries, in both directions.
func (h *haul) rate(i, mb int, latency time.Duration) {
	l := sim.Link{Latency: latency, BytesPerSecond: int64(mb) * mega}
	h.net.SetLink(h.a.rails[i], h.b.rails[i], l)
	h.net.SetLink(h.b.rails[i], h.a.rails[i], l)
}

func (h *haul) up() (ls []lane.Status) {
	for _, l := range h.a.ep.Lanes() {
		if l.State == lane.Up {
			ls = append(ls, l)
		}
	}
	return ls
}

func (h *haul) post() (r *request.Request, err error) {
	if h.kind == request.Put {
		return h.a.ep.PostPut(h.buf[:h.size], h.key, 0)
	}
	if h.kind == request.Get {
		return h.a.ep.PostGet(h.buf[:h.size], h.key, 0)
	}
	return h.a.ep.PostAM(haulM, nil, h.buf[:h.size])
}

// run goes on for a time, and returns the rate.
func (h *haul) run(t *testing.T, d time.Duration) float64 {
	t.Helper()
	begun, was := h.net.Now(), h.done
	h.ended = begun
	for h.net.Now() < begun+d {
		for len(h.open) < h.depth {
			r, err := h.post()
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				h.end()
				break
			}
			h.open = append(h.open, r)
		}
		h.turn()
		open := h.open[:0]
		for _, r := range h.open {
			if !r.Reported {
				open = append(open, r)
				continue
			}
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			h.a.eng.Release(r)
			h.end()
		}
		h.open = open
		if h.turns > 3_000_000 {
			t.Fatalf("no end of turns at %v", h.net.Now())
		}
	}
	if len(h.fails) > 0 {
		t.Fatal(h.report())
	}
	return float64(h.done-was) / (h.net.Now() - begun).Seconds() / mega
}

func (h *haul) end() {
	h.done += uint64(h.size)
	h.gap = max(h.gap, h.net.Now()-h.ended)
	h.ended = h.net.Now()
}

// shares is run, and returns what share of the bytes each lane carried, too. No lane may come or go meanwhile.
func (h *haul) shares(t *testing.T, d time.Duration) (mb float64, s []float64) {
	t.Helper()
	carried := func() (n []float64) {
		for _, r := range h.a.rails {
			for _, l := range h.up() {
				if strings.HasPrefix(l.Local, r) {
					n = append(n, float64(l.PostedBytes+l.AcceptedBytes))
				}
			}
		}
		return n
	}
	was, sum := carried(), 0.0
	mb = h.run(t, d)
	s = carried()
	for i := range s {
		s[i] -= was[i]
		sum += s[i]
	}
	for i := range s {
		s[i] /= sum
	}
	return mb, s
}

// shared fails unless each lane's share is that of its rate.
func shared(t *testing.T, shares []float64, rates ...int) {
	t.Helper()
	sum := 0
	for _, r := range rates {
		sum += r
	}
	for i, r := range rates {
		if want := float64(r) / float64(sum); i >= len(shares) || shares[i] < want-0.1 || shares[i] > want+0.1 {
			t.Errorf("shares %.3f, the lanes carry %v", shares, rates)
			return
		}
	}
}

// bulks are the kinds whose bytes go over all lanes.
func bulks() []bulk {
	all := []bulk{{"am", request.AM}, {"put", request.Put}, {"get", request.Get}}
	if testing.Short() {
		return all[:1]
	}
	return all
}

type bulk struct {
	name string
	kind request.Kind
}

// TestUnequalLanes: together they carry what they carry one by one, however unequal they are.
func TestUnequalLanes(t *testing.T) {
	cases := [][]int{{40, 120, 12}, {125, 125}, {125, 12}, {12, 125}, {120, 40}}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, k := range bulks() {
		for _, rates := range cases {
			t.Run(fmt.Sprintf("%s/%v", k.name, rates), func(t *testing.T) {
				h := newHaul(t, rates...)
				h.kind, h.size, h.depth = k.kind, chunk, 32
				h.run(t, 700*time.Millisecond)
				sum := 0
				for _, r := range rates {
					sum += r
				}
				got, shares := h.shares(t, 500*time.Millisecond)
				t.Logf("%.1f of %d, shares %.3f, longest gap %v", got, sum, shares, h.gap)
				if got < 0.95*float64(sum) {
					t.Errorf("%.1f, the lanes carry %d", got, sum)
				}
				shared(t, shares, rates...)
			})
		}
	}
}

// TestNotHeldBack: few operations at a time are not slower over a fast and a slow lane than over the fast one alone.
func TestNotHeldBack(t *testing.T) {
	for _, k := range bulks() {
		for _, depth := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", k.name, depth), func(t *testing.T) {
				rate := func(rates ...int) float64 {
					h := newHaul(t, rates...)
					h.kind, h.size, h.depth = k.kind, chunk, depth
					h.run(t, 700*time.Millisecond)
					return h.run(t, 300*time.Millisecond)
				}
				one, both := rate(125), rate(125, 12)
				t.Logf("%.1f over one, %.1f over both", one, both)
				if both < 0.95*one {
					t.Errorf("%.1f with a slow lane beside, %.1f without", both, one)
				}
			})
		}
	}
}

// TestSmallOnBest: small operations, one at a time, leave the lane that they stayed on when it becomes the slow one, though it has nothing else
// to do.
func TestSmallOnBest(t *testing.T) {
	for _, k := range bulks() {
		h := newHaul(t, 125, 125)
		small := func() float64 {
			h.kind, h.size, h.depth = k.kind, 2000, 1
			h.run(t, 700*time.Millisecond)
			_, s := h.shares(t, 100*time.Millisecond)
			return s[1]
		}
		slow := 0
		if small() > 0.5 {
			slow = 1
		}
		h.rate(slow, 12, 50*time.Microsecond)
		h.kind, h.size, h.depth = k.kind, chunk-1000, 16 // without a last frame that is small
		h.run(t, 700*time.Millisecond)                   // until the side that sends the bytes knows
		h.depth = 0
		h.run(t, 200*time.Millisecond)
		if s := small(); s < 0.95 == (slow == 0) {
			t.Errorf("%s: a share of %.3f on lane 1, the slow one is lane %d", k.name, s, slow)
		}
	}
}

// TestLaneChanges: when a lane gets slower, or as fast as before, it takes a second until all are used for what they bring.
func TestLaneChanges(t *testing.T) {
	for _, k := range bulks() {
		h := newHaul(t, 125, 125)
		h.kind, h.size, h.depth = k.kind, chunk, 32
		for _, rate := range []int{125, 20, 125} {
			h.rate(1, rate, 50*time.Microsecond)
			h.run(t, time.Second)
			got, shares := h.shares(t, 400*time.Millisecond)
			t.Logf("%s: %.1f of %d, shares %.3f", k.name, got, 125+rate, shares)
			if got < 0.95*float64(125+rate) {
				t.Errorf("%s: %.1f over lanes of 125 and %d", k.name, got, rate)
			}
			shared(t, shares, 125, rate)
		}
	}
}

// TestB15_LaneComesBack: while a lane is gone the other one carries what it can, and when it is back both do as at first.
func TestB15_LaneComesBack(t *testing.T) {
	for _, k := range bulks() {
		h := newHaul(t, 125, 60)
		h.kind, h.size, h.depth = k.kind, chunk, 32
		h.run(t, 500*time.Millisecond)
		start, shares := h.shares(t, 300*time.Millisecond)
		shared(t, shares, 125, 60)
		h.net.CutRail(h.a.rails[1], sim.Reset, sim.Both)
		h.run(t, 200*time.Millisecond)
		if one := h.run(t, 300*time.Millisecond); one < 0.95*125 {
			t.Errorf("%s: %.1f over a lane of 125 while the other one is gone", k.name, one)
		}
		h.net.Heal(h.a.rails[1])
		h.run(t, 1500*time.Millisecond) // it is dialed again
		back, shares := h.shares(t, 400*time.Millisecond)
		t.Logf("%s: %.1f, and after the lane was lost and came back %.1f, shares %.3f", k.name, start, back, shares)
		if len(h.up()) != 2 || back < 0.95*start {
			t.Errorf("%s: %d lanes with %.1f after one came back, %.1f at first", k.name, len(h.up()), back, start)
		}
		shared(t, shares, 125, 60)
	}
}

// TestB4_PausingLane: of four lanes one stands still now and then, for as long as it may without being given up. Nothing waits for it for
// longer than that.
func TestB4_PausingLane(t *testing.T) {
	for _, k := range bulks() {
		h := newHaul(t, 60, 60, 60, 60)
		h.kind, h.size, h.depth = k.kind, chunk, 32
		h.run(t, 500*time.Millisecond)
		h.gap = 0
		var got float64
		for range 20 {
			h.rate(2, 60, time.Duration(5+h.n(30))*time.Millisecond) // what is sent now arrives so much later, and all behind it
			got += h.run(t, 500*time.Microsecond) * 0.5
			h.rate(2, 60, 50*time.Microsecond)
			d := time.Duration(20+h.n(60)) * time.Millisecond
			got += h.run(t, d) * d.Seconds() * 1000
		}
		t.Logf("%s: longest gap %v", k.name, h.gap)
		if h.gap > 100*time.Millisecond {
			t.Errorf("%s: nothing ended for %v", k.name, h.gap)
		}
	}
}

// TestOrderLane: messages are on the best lane soon, also when it comes only later, and when it comes back.
func TestOrderLane(t *testing.T) {
	h := newHaul(t, 12, 125)
	h.kind, h.size, h.depth = request.AM, 8000, 200
	best := func(when string) {
		t.Helper()
		h.run(t, 2500*time.Millisecond)
		got, s := h.shares(t, 200*time.Millisecond)
		t.Logf("%s: %.1f, shares %.3f", when, got, s)
		if len(s) != 2 || s[1] < 0.95 {
			t.Errorf("%s: shares %.3f of a slow lane and a fast one, %.1f", when, s, got)
		}
	}
	best("at first")
	h.net.CutRail(h.a.rails[1], sim.Reset, sim.Both)
	h.run(t, 100*time.Millisecond)
	h.net.Heal(h.a.rails[1])
	best("after it came back")
	if n := h.a.ep.Stats().Moves; n == 0 || n > 4 {
		t.Errorf("messages were moved %d times", n)
	}
}

// TestOrderLaneStays: lanes that take turns in being the better one don't make messages follow each of them.
func TestOrderLaneStays(t *testing.T) {
	h := newHaul(t, 125, 30)
	h.kind, h.size, h.depth = request.AM, chunk, 32
	for i := range 15 {
		h.rate(i%2, 125, 50*time.Microsecond)
		h.rate(1-i%2, 10, 50*time.Microsecond)
		h.run(t, 200*time.Millisecond)
	}
	if n := h.a.ep.Stats().Moves; n > 3 {
		t.Errorf("messages were moved %d times in 3 s", n)
	}
}

// TestPartsAhead: of the large messages that wait, sixteen at most have parts under way, however much room the lanes have: the receiver has memory for
// each that is begun. And it is all sixteen, or lanes with a long way would stand idle.
func TestPartsAhead(t *testing.T) {
	h := newHaul(t, 125, 125)
	h.kind, h.size = request.AM, chunk/4 // four parts each; the windows of both lanes hold 32 such messages
	for i := range h.a.rails {
		h.rate(i, 1000, 50*time.Millisecond) // no acknowledgement meanwhile
	}
	for range 40 {
		r, err := h.post()
		if err != nil || r == nil {
			t.Fatal(r, err)
		}
		h.open = append(h.open, r)
	}
	h.run(t, 10*time.Millisecond)
	begun := 0
	for i, r := range h.open {
		if r.Frames > 0 {
			begun++
		}
		if (r.Frames > 0) != (i < 16) {
			t.Errorf("message %d has %d frames under way", i, r.Frames)
		}
	}
	if begun != 16 {
		t.Errorf("parts of %d messages are under way", begun)
	}
	h.depth = 0
	h.run(t, 2*time.Second)
	if len(h.open) > 0 {
		t.Errorf("%d messages have not ended", len(h.open))
	}
}

// TestMove: messages that move to another lane wait for a round trip, and not longer.
func TestMove(t *testing.T) {
	h := newHaul(t, 125, 125)
	h.kind, h.size = request.AM, 2000
	for i := range 10 {
		h.depth = 0
		h.run(t, 20*time.Millisecond) // nothing is under way
		for n := range 8 {
			if to := h.up()[1-i%2].Instance.String(); n == 4 && !h.a.ep.Box().Prefer(to) {
				t.Fatalf("no lane %s", to)
			}
			r, err := h.post()
			if err != nil {
				t.Fatal(err)
			}
			h.open = append(h.open, r)
		}
		h.gap = 0
		if _, s := h.shares(t, 3*time.Millisecond); len(h.open) > 0 || s[1-i%2] < 0.95 {
			t.Errorf("%d messages have not ended, shares %.3f after messages were to move to lane %d", len(h.open), s, 1-i%2)
		}
	}
}

// TestSpeedChanges: an interface that says that it is slower now is left, before anything is measured: small puts at once, messages when it has
// been so for a quarter of a second. And the other way round.
func TestSpeedChanges(t *testing.T) {
	h := newHaul(t, 125, 125)
	for i := range 2 {
		rails := topo.Fixed(h.a.rails...)
		rails[i].Speed, rails[1-i].Speed = 10, 1000
		h.a.eng.RailsChanged(rails)
		if l := h.up()[i]; l.Speed != 10 {
			t.Errorf("lane %d has %d Mbit/s", i, l.Speed)
		}
		h.kind, h.size, h.depth = request.Put, 64, 4
		if _, s := h.shares(t, 3*time.Millisecond); s[1-i] < 0.95 {
			t.Errorf("shares %.3f of puts when lane %d became slow", s, i)
		}
		h.kind, h.size, h.depth = request.AM, 2000, 4
		h.run(t, 1500*time.Millisecond)
		if _, s := h.shares(t, 10*time.Millisecond); s[1-i] < 0.95 {
			t.Errorf("shares %.3f of messages when lane %d became slow", s, i)
		}
	}
}

// TestStandsStill: while the fast lane stands still, and has no room left, the slow one carries what there is, though nobody posts anything.
func TestStandsStill(t *testing.T) {
	h := newHaul(t, 125, 1000)
	h.buf = make([]byte, 128*chunk)
	far := h.b.mem.Add(make([]byte, len(h.buf)))
	h.key = far.Key(wire.Write, h.b.incarnation)
	h.kind, h.size, h.depth = request.Put, chunk, 16
	h.run(t, 500*time.Millisecond)
	h.depth = 0
	h.run(t, 50*time.Millisecond)
	h.size, h.depth = len(h.buf), 1
	h.run(t, 20*time.Millisecond)
	h.rate(1, 1000, 30*time.Millisecond) // what is sent now arrives so much later, and all behind it
	h.run(t, 500*time.Microsecond)
	h.rate(1, 1000, 50*time.Microsecond)
	h.run(t, 4500*time.Microsecond)
	was := h.up()
	h.run(t, 20*time.Millisecond)
	now := h.up()
	if n := now[1].AckedBytes - was[1].AckedBytes; n > 0 {
		t.Fatalf("%d bytes were acknowledged on the lane that stands still", n)
	}
	got := float64(now[0].AckedBytes-was[0].AckedBytes) / mega / 0.020
	if got < 100 {
		t.Errorf("the other one carries %.0f of 125", got)
	}
}
