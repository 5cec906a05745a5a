package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

const (
	// blackout is for how long a silent lane may hold up what was posted before, if another one lives.
	blackout = 50 * time.Millisecond
	// A silence lasts for 0.1 to 1 s.
	leastSilence, spanOfSilence = 100 * time.Millisecond, 900 * time.Millisecond
	silences                    = 5  // of a seed
	before                      = 60 // operations of each side, until one
)

// silenceShape has lanes whose round trips are short: what waits for several of them, as fences do, is no blackout.
func silenceShape(seed uint64) shape {
	w := &world{luck: seed ^ 0x1f83d9abfb41bd6b}
	return shape{
		lanes: 2 + w.n(3), ops: before * silences, mode: wire.ModeFailover, regions: before * silences, slot: 3000, atomics: w.n(2) == 0, fences: w.n(3) == 0,
		net:    sim.Config{MaxHead: 2048, MaxFrame: 4096, Window: 256 << 10, Link: sim.Link{Latency: time.Duration(5+w.n(50)) * time.Microsecond}},
		config: config.Config{Bounds: config.Bounds{Window: 256 << 10, Pending: 200, PendingBytes: 1 << 22, Stripe: 8000, Backlog: 1 << 22, Replies: 64}},
	}
}

// whole waits until both sides have all lanes.
func (w *world) whole() bool {
	return w.until(20*time.Second, func() bool {
		up := 0
		for _, s := range []*side{w.a, w.b} {
			for _, l := range s.ep.Lanes() {
				if l.State == lane.Up {
					up++
				}
			}
		}
		return up == 2*w.lanes
	})
}

// on is the lane that is up on a rail.
func (s *side) on(rail string) (id wire.Instance) {
	for _, l := range s.ep.Lanes() {
		if l.State == lane.Up && topo.HostOf(l.Local) == rail {
			id = l.Instance
		}
	}
	return id
}

// has says whether a lane is up.
func (s *side) has(id wire.Instance) bool {
	return slices.ContainsFunc(s.ep.Lanes(), func(l lane.Status) bool { return l.Instance == id && l.State == lane.Up })
}

// silenced cuts one rail after the other, in both directions or in one, while both sides have operations under way on it, and looks how long
// these take.
func (w *world) silenced() {
	if !w.connect() {
		return
	}
	for i := range silences {
		if !w.whole() {
			w.failf("the lanes don't come back")
			return
		}
		end := w.net.Now() + time.Duration(w.n(500))*time.Microsecond
		w.until(time.Second, func() bool {
			for _, s := range []*side{w.a, w.b} {
				if w.n(3) > 0 && len(s.ops) < before*(i+1) {
					s.issue()
				}
			}
			return w.net.Now() >= end
		})
		s := []*side{w.a, w.b}[w.n(2)]
		rail, dir, at := s.rails[w.n(w.lanes)], sim.Dir(w.n(3)), w.net.Now()
		victim := s.on(rail)
		w.cut(rail, sim.Silence, dir)
		w.net.Do(at+leastSilence+time.Duration(w.n(int(spanOfSilence))), func() { w.heal(rail) })
		w.a.flush()
		w.b.flush()
		if !w.until(blackout, func() bool { return len(w.a.flushes)+len(w.b.flushes) == 0 }) {
			w.failf("what was under way when %s of %s fell silent (direction %d, at %v) is not executed after %v", rail, s.name, dir, at, blackout)
			return
		}
		// One on which nothing was under way is found by the keepalive; of two that are silent only the peer's time-out would tell.
		if !w.until(5*time.Second, func() bool {
			return w.net.Now() > at+leastSilence+spanOfSilence && !s.has(victim) && !s.peer.has(victim)
		}) {
			w.failf("%v is silent for %v, and not given up", victim, w.net.Now()-at)
			return
		}
	}
	w.finish()
}

// TestSilences: a lane that carries nothing any more, or in one direction only, holds up what both sides have under way on it for 50 ms at most, and comes back.
func TestSilences(t *testing.T) {
	eachSeed(t, 40, 20, func(seed uint64) *world {
		w := newWorld(seed, silenceShape(seed))
		w.silenced()
		return w
	})
}
