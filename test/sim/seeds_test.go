package sim

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

// shapeOf draws the shape of a seed.
func shapeOf(seed uint64) shape {
	w := &world{luck: seed ^ 0xb5297a4d3f84d5a7}
	s := shape{
		lanes: 1 + w.n(4), ops: 20 + w.n(80), faults: w.n(5), mode: wire.ModeFailover,
		regions: 40, slot: 9000,
		kinds: []sim.Kind{sim.Reset, sim.Silence, sim.Some},
	}
	s.net = sim.Config{MaxHead: 2048, MaxFrame: 4096 << w.n(3), Window: 16 << 10 << w.n(4)}
	if w.n(3) == 0 {
		s.net.Stingy = 5 + w.n(20)
	}
	if w.n(3) == 0 {
		s.net.Link = sim.Link{Latency: time.Duration(1+w.n(500)) * time.Microsecond, Jitter: time.Duration(w.n(300)) * time.Microsecond}
	}
	s.config = config.Config{Bounds: config.Bounds{Window: s.net.Window, Pending: 16 + w.n(100), PendingBytes: 10_000 << w.n(6), Stripe: 2000 << w.n(5), Backlog: 4000 << w.n(8), Replies: 1 + w.n(4)}}
	if w.n(2) == 0 {
		s.secret, _ = secret.From([]byte("what both sides of a seed have"))
	}
	s.config.Times.Close = time.Minute // longer than the peer's silence on the last lane, which only the peer time-out decides
	return s
}

// run is one seed from dial to close.
func (w *world) run() {
	if !w.connect() {
		return
	}
	w.plan()
	done := func() bool {
		for _, s := range []*side{w.a, w.b} {
			if len(s.ops) < w.ops || len(s.open) > 0 || len(s.flushes) > 0 {
				return false
			}
		}
		return true
	}
	if !w.until(40*time.Second, func() bool { w.act(); return done() }) {
		w.failf("traffic did not end: %d+%d operations issued, %d+%d open, %d+%d flushes", len(w.a.ops), len(w.b.ops), len(w.a.open), len(w.b.open), len(w.a.flushes), len(w.b.flushes))
		return
	}
	w.finish()
}

// act lets both sides do something, sometimes.
func (w *world) act() {
	w.actOf(w.a)
	w.actOf(w.b)
}

func (w *world) actOf(s *side) {
	for k := w.n(4); k > 0 && len(s.ops) < w.ops; k-- {
		if !s.issue() {
			break
		}
	}
	if w.n(20) == 0 && len(s.flushes) < 4 {
		s.flushSome()
	}
	if w.n(25) == 0 {
		s.giveUp()
	}
	if ls := s.ep.Lanes(); w.n(15) == 0 && len(ls) > 0 { // no message may overtake another one
		s.ep.Box().Prefer(ls[w.n(len(ls))].Instance.String())
	}
}

// plan sets the faults.
func (w *world) plan() {
	for range w.faults {
		at := w.net.Now() + time.Duration(w.n(3000))*time.Microsecond
		rail := w.a.rails[w.n(w.lanes)]
		if w.n(2) == 0 {
			rail = w.b.rails[w.n(w.lanes)]
		}
		kind, dir := w.kinds[w.n(len(w.kinds))], sim.Dir(w.n(3))
		w.net.Do(at, func() { w.cut(rail, kind, dir) })
		w.net.Do(at+time.Duration(w.n(20_000))*time.Microsecond, func() { w.heal(rail) })
	}
}

// cut breaks a rail.
func (w *world) cut(rail string, kind sim.Kind, dir sim.Dir) {
	if isRC(rail) {
		w.rc.cut(rail, kind, dir)
	} else {
		w.net.CutRail(rail, kind, dir)
	}
}

func (w *world) heal(rail string) {
	if isRC(rail) {
		w.rc.heal(rail)
	} else {
		w.net.Heal(rail)
	}
}

// hash is of all that happened.
func (w *world) hash() uint64 {
	if w.rc != nil {
		return w.net.Hash() ^ w.rc.sum
	}
	return w.net.Hash()
}

// finish flushes, looks at everything, closes, and looks whether anything is left.
func (w *world) finish() {
	for _, s := range []*side{w.a, w.b} {
		s.flush()
	}
	if !w.until(40*time.Second, func() bool { return len(w.a.flushes)+len(w.b.flushes) == 0 }) {
		w.failf("last flushes did not end")
		return
	}
	for _, s := range []*side{w.a, w.b} {
		s.progress()
		// What belongs to no operation (a Credit) may be on its way still, and even be replayed.
		if !w.until(40*time.Second, func() bool { return s.ep.Idle() == nil }) {
			w.failf("%s: %v", s.name, s.ep.Idle())
			return
		}
	}
	for _, s := range []*side{w.a, w.b} {
		for _, o := range s.ops {
			for _, b := range o.buf {
				if b != spoiled {
					w.failf("%s: operation %d: its buffer was used after its user had it back", s.name, o.index)
					break
				}
			}
			switch {
			case o.canceled && o.err != nil:
				if fate(o.err) == outcome.NotExecuted && (o.ran > 0 || o.over > 0 || o.signaled > 0) {
					w.failf("%s: operation %d was given up as %v: handled %d times, %d bytes written", s.name, o.index, o.err, o.ran, o.over)
				}
			case o.err != nil:
				w.failf("%s: operation %d: %v", s.name, o.index, o.err)
			case o.kind == request.AM && o.ran != 1:
				w.failf("%s: message %d handled %d times", s.name, o.index, o.ran)
			case o.kind == request.Atomic && !o.changeDone():
				w.failf("%s: %v %d is not done", s.name, o.change.Change, o.index)
			case o.signals && o.signaled != 1:
				w.failf("%s: signal of put %d seen %d times", s.name, o.index, o.signaled)
			case o.kind == request.Put && o.over != uint64(len(o.data)):
				w.failf("%s: put %d wrote %d of %d bytes", s.name, o.index, o.over, len(o.data))
			}
		}
	}
	w.close()
}

func (w *world) close() {
	r, err := w.a.ep.PostClose()
	if err != nil {
		w.failf("close: %v", err)
		return
	}
	if !w.until(40*time.Second, func() bool { return r.Reported }) || r.Err != nil {
		w.failf("close: %v", r.Err)
		return
	}
	w.a.eng.Release(r)
	if !w.until(40*time.Second, func() bool { return w.b.ep.State() == life.Failed }) {
		w.failf("b did not learn of the close")
		return
	}
	if _, err := w.b.ep.PostClose(); err != nil {
		w.failf("close of the other side: %v", err)
	}
	w.until(3*time.Second, func() bool { return w.net.Open().Endpoints == 0 })
	w.a.eng.Close()
	w.b.eng.Close()
	if o := w.net.Open(); o != (sim.Counters{}) {
		w.failf("left over: %+v", o)
	}
	if w.rc != nil && len(w.rc.nics) > 0 {
		w.failf("%d devices are left open", len(w.rc.nics))
	}
	for _, v := range w.net.Violations() {
		w.failf("violation: %s", v)
	}
}

func TestSeeds(t *testing.T) {
	eachSeed(t, 200, 1, func(seed uint64) *world {
		w := newWorld(seed, shapeOf(seed))
		w.run()
		return w
	})
}
