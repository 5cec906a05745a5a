package sim

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

// stutter is a world whose sides run for moments only, each by itself, or only one of them does: a busy machine. Nothing is ever cut.
type stutter struct {
	*world
	sides [2]spells
}

// spells are the moments in which a side runs.
type spells struct {
	runs bool
	turn time.Duration // when that changes
}

// The longest moment, and the longest stop: for more than twice as long as a lane may be silent.
const (
	longestSlice = 3 * time.Millisecond
	longestStop  = 80 * time.Millisecond
)

// newStutter has lanes whose round trips, up to 9 ms, differ: an answer on one of them may come long before that of the other.
func newStutter(seed uint64) *stutter {
	w := &world{luck: seed ^ 0x3c6ef372fe94f82b}
	s := shape{
		lanes: 2 + w.n(3), ops: 100, mode: wire.ModeFailover, regions: 40, slot: 9000,
		net:    sim.Config{MaxHead: 2048, MaxFrame: 4096, Window: 64 << 10, Calm: true},
		config: config.Config{Bounds: config.Bounds{Window: 64 << 10, Pending: 100, PendingBytes: 1 << 20, Stripe: 8000, Backlog: 1 << 20, Replies: 4}},
	}
	x := &stutter{world: newWorld(seed, s)}
	for i := range s.lanes {
		l := sim.Link{Latency: time.Duration(50+w.n(4450)) * time.Microsecond}
		x.net.SetLink(x.a.rails[i], x.b.rails[i], l)
		x.net.SetLink(x.b.rails[i], x.a.rails[i], l)
	}
	return x
}

// running says whether a side runs now.
func (x *stutter) running(i int) bool {
	s := &x.sides[i]
	for x.net.Now() >= s.turn {
		s.runs = !s.runs
		most := longestStop
		if s.runs {
			most = longestSlice
		}
		s.turn += time.Duration(1+x.n(int(most/time.Microsecond))) * time.Microsecond
	}
	return s.runs
}

// step is one turn of who runs, or time that passes.
func (x *stutter) step() {
	x.turns++
	n := 0
	for i, s := range []*side{x.a, x.b} {
		if !x.running(i) {
			continue
		}
		n += s.progress()
		if d := s.eng.Deadline(); d > x.net.Now() {
			x.net.At(d)
		}
	}
	if n == 0 {
		x.net.At(min(x.sides[0].turn, x.sides[1].turn))
		x.net.Step()
	}
}

func (x *stutter) run() {
	up := func() (n int) {
		for _, s := range []*side{x.a, x.b} {
			for _, l := range s.ep.Lanes() {
				if l.State == lane.Up {
					n++
				}
			}
		}
		return n
	}
	if !x.connect() || !x.world.until(time.Second, func() bool { return up() == 2*x.lanes }) {
		return
	}
	begun := x.net.Now()
	x.sides = [2]spells{{turn: begun}, {turn: begun}}
	if k := x.n(3); k < 2 {
		x.sides[k] = spells{runs: true, turn: begun + time.Hour}
	}
	for end := begun + 6*time.Second; x.net.Now() < end && len(x.fails) == 0; x.step() {
		for i, s := range []*side{x.a, x.b} { // an operation now and then: most of the time lanes owe an answer for it
			if x.running(i) && len(s.ops) < x.ops && x.net.Now() > begun+time.Duration(len(s.ops))*60*time.Millisecond {
				s.issue()
			}
		}
		for _, s := range []*side{x.a, x.b} {
			for _, l := range s.ep.Lanes() {
				if l.State != lane.Up {
					x.failf("%s gave up %v, which only its peer's stops had made silent", s.name, l.Instance)
				}
			}
		}
	}
}

// TestStuttering: two sides on busy machines, stopped again and again for longer than a lane may be silent, give none of their
// lanes up, whose round trips differ by as much as the rules allow.
func TestStuttering(t *testing.T) {
	eachSeed(t, 60, 10, func(seed uint64) *world {
		x := newStutter(seed)
		x.run()
		return x.world
	})
}
