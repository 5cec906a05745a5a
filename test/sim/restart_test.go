package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport/sim"
)

// restart: b's process dies in the middle, and another one listens where it listened. Nothing of the old
// endpoint reaches it, each operation ends once, and a learns that its peer is another one.
func (w *world) restart() {
	if !w.connect() {
		return
	}
	died := false
	at := w.net.Now() + time.Duration(w.n(2000))*time.Microsecond
	kind := w.kinds[w.n(len(w.kinds))]
	w.net.Do(at, func() { died = true })
	if !w.until(5*time.Second, func() bool { w.act(); return died }) {
		w.failf("traffic hung before the death")
		return
	}
	old := w.b
	w.net.At(w.net.Now()) // whatever the old one would have done at this moment, it doesn't
	old.host.Kill(kind)
	old.eng = nil
	w.b = w.newcomer(old)
	since := w.net.Now()
	failed := func() bool {
		return w.a.ep.State() == life.Failed && len(w.a.open) == 0 && len(w.a.flushes) == 0
	}
	if !w.until(60*time.Second, func() bool {
		if w.a.ep.State() != life.Failed {
			w.actOf(w.a)
		}
		return failed()
	}) {
		w.failf("a did not learn of the restart: %d open, %d flushes", len(w.a.open), len(w.a.flushes))
		return
	}
	// The first answer of the newcomer is enough; how long it takes to ask is a matter of what the network tells.
	bound := 2 * time.Second
	if kind != sim.Reset {
		bound += 12 * time.Second
	}
	if took := w.net.Now() - since; took > bound {
		w.failf("a learned of the restart after %v", took)
	}
	if err := w.a.ep.Err(); !errors.Is(err, outcome.ErrPeerRestarted) {
		w.failf("a's endpoint failed with %v", err)
	}
	for _, o := range w.a.ops {
		if !o.ended {
			w.failf("a: operation %d never ended", o.index)
		}
	}
	if _, err := w.a.ep.PostClose(); err == nil {
		w.failf("closing a failed endpoint says nothing of what no flush has covered")
	}
	w.a.eng.Close()
	w.b.eng.Close()
	if o := w.net.Open(); o != (sim.Counters{}) {
		w.failf("left over: %+v", o)
	}
}

// newcomer is another process on the host of an old one. It takes no messages: there are none for it.
func (w *world) newcomer(old *side) *side {
	s := &side{w: w, name: "new", host: old.host, rails: old.rails, peer: &side{w: w, name: "nobody"}}
	s.start()
	ln, err := s.eng.Listen(s.rails[0]+":7", worker.ListenOptions{Secret: w.secret})
	if err != nil {
		panic(err)
	}
	s.ln = ln
	// It has endpoints of its own, by the same numbers as the old one's: only the incarnation tells them apart.
	if _, _, err := s.eng.Dial([]string{s.rails[0] + ":7"}, worker.DialOptions{Mode: w.mode, Secret: w.secret}); err != nil {
		panic(err)
	}
	return s
}

// Every tenth seed only: these take longer, and have less to vary.
func TestRestartSeeds(t *testing.T) {
	eachSeed(t, 100, 10, func(seed uint64) *world {
		s := shapeOf(seed)
		s.ops, s.faults = 300, 0
		w := newWorld(seed, s)
		w.restart()
		return w
	})
}
