package worker_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport/sim"
)

// queue is a long line of operations on a stage, with a fence between each and the next. Behind a put over both lanes all of them wait.
type queue struct {
	*stage
	t     *testing.T
	ended []int
	errs  []error
	wrote []uint64 // offsets of short puts, as they were written
}

const queued = 2000

func newQueue(t *testing.T, n int) *queue {
	q := &queue{stage: newStage(t, 2, wire.ModeFailover), t: t, ended: make([]int, n), errs: make([]error, n)}
	return q
}

// post posts the i-th: a put to a place of its own, or something else between two puts.
func (q *queue) post(i int) *request.Request {
	var r *request.Request
	var err error
	switch i % 6 {
	case 1:
		r, err = q.a.ep.PostAM(1, []byte{1, 0, 0, 0}, nil)
	case 3:
		r, err = q.a.ep.PostGet(make([]byte, 8), q.b.key, 0)
	case 5:
		r, err = q.a.ep.PostAtomic(q.b.key, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Value: 1, Fetch: i%12 == 5, Offset: 1 << 19})
	default:
		r, err = q.a.ep.PostPut(make([]byte, 8), q.b.key, uint64(200_000+8*i))
	}
	if err != nil {
		q.t.Fatalf("operation %d: %v", i, err)
	}
	if i%2 == 0 {
		q.a.ep.Fence()
	} else {
		q.a.eng.Fence()
	}
	if r == nil {
		q.ended[i]++
	}
	return r
}

// fill posts all of them behind a put of two frames, and keeps what then happens to each.
func (q *queue) fill() (rs []*request.Request) {
	q.do(q.t, strings.Fields("put2 a 0"))
	q.a.ep.Fence()
	for i := range q.ended {
		r := q.post(i)
		if r == nil {
			q.t.Fatalf("operation %d did not wait", i)
		}
		r.OnSent = func(err error) {
			q.ended[i]++
			q.errs[i] = err
		}
		rs = append(rs, r)
	}
	return rs
}

// settled lets everything happen, and looks at what is left.
func (q *queue) settled() {
	for range 5 {
		q.do(q.t, []string{"settle"})
	}
	for i, n := range q.ended {
		if n != 1 {
			q.t.Fatalf("operation %d ended %d times", i, n)
		}
	}
	for _, line := range strings.Split(q.log.String(), "\n") {
		var at uint64
		if _, err := fmt.Sscanf(line, "b: written 8 bytes at %d", &at); err == nil && at >= 200_000 && at < 1<<19 {
			q.wrote = append(q.wrote, (at-200_000)/8)
		}
	}
	if !slices.IsSorted(q.wrote) {
		q.t.Error("puts passed each other")
	}
	if err := q.a.ep.Idle(); err != nil {
		q.t.Error(err)
	}
}

// thousands wait behind fences; lanes go and come meanwhile.
func TestThousandsBehindFences(t *testing.T) {
	q := newQueue(t, queued)
	for _, r := range q.fill() {
		q.a.eng.Release(r)
	}
	for _, line := range []string{"break d1 reset", "time 30us", "turn a", "turn b", "time 100ms", "turn a", "turn b", "break d2 silence"} {
		q.do(t, strings.Fields(line))
	}
	q.settled()
	for i, err := range q.errs {
		if err != nil {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	if len(q.wrote) != queued/2 {
		t.Errorf("%d puts are executed", len(q.wrote))
	}
	if n := q.a.eng.Live(); n != 0 {
		t.Errorf("%d requests are out", n)
	}
}

// A close is behind everything that waits for fences, and waits for it.
func TestCloseBehindFences(t *testing.T) {
	q := newQueue(t, queued)
	for _, r := range q.fill() {
		q.a.eng.Release(r)
	}
	q.do(t, strings.Fields("close a c"))
	q.do(t, strings.Fields("break d2 reset"))
	q.settled()
	if len(q.wrote) != queued/2 || !strings.Contains(q.log.String(), "a: c ended: <nil>") {
		t.Errorf("%d puts are executed; close:\n%s", len(q.wrote), q.log.String()[max(0, q.log.Len()-300):])
	}
}

// Of what waits for fences anything can be canceled, in any order: it ends at once and has no effect, and what is behind it goes on.
func TestCancelBehindFences(t *testing.T) {
	for number := range uint64(5) {
		q := newQueue(t, 300)
		rs := q.fill()
		luck := rand.New(rand.NewPCG(number, 0))
		canceled := map[uint64]bool{}
		for n, i := range luck.Perm(len(rs)) {
			if n%3 == 0 {
				continue
			}
			q.a.eng.Cancel(rs[i])
			if !rs[i].Reported || !errors.Is(rs[i].Err, outcome.ErrCanceled) {
				t.Fatalf("operation %d is canceled, and ends with %v", i, rs[i].Err)
			}
			canceled[uint64(i)] = true
			if n == len(rs)/2 {
				q.do(t, strings.Fields("break d1 reset"))
				q.a.turn()
			}
		}
		for _, r := range rs {
			q.a.eng.Release(r)
		}
		q.settled()
		for _, i := range q.wrote {
			if canceled[i] {
				t.Errorf("operation %d was canceled, and is executed", i)
			}
		}
		for i, err := range q.errs {
			if canceled[uint64(i)] != errors.Is(err, outcome.ErrCanceled) || err != nil && !errors.Is(err, outcome.ErrCanceled) {
				t.Errorf("operation %d ends with %v", i, err)
			}
		}
	}
}

// The peer dies, or the endpoint is given up, with work behind fences: each ends once with the endpoint's error, and a flush too.
func TestDeathWithFencedWork(t *testing.T) {
	for name, die := range map[string]func(q *queue){
		"killed, and that is told": func(q *queue) { q.b.host.Kill(sim.Reset) },
		"killed in silence":        func(q *queue) { q.b.host.Kill(sim.Silence) },
		"the peer gives up":        func(q *queue) { q.b.ep.Abort() },
		"given up here":            func(q *queue) { q.a.ep.Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, queued)
			for _, r := range q.fill() {
				q.a.eng.Release(r)
			}
			q.do(t, strings.Fields("flush a f"))
			q.do(t, strings.Fields("wflush a w"))
			q.do(t, strings.Fields("time 20us"))
			q.a.turn()
			die(q)
			for range 60 { // the time-out of a peer, and then of an endpoint without lanes
				q.do(t, []string{"settle"})
			}
			q.settled()
			for i, err := range q.errs {
				if err == nil && i > 100 {
					t.Fatalf("operation %d ended well", i)
				}
			}
			for _, f := range []string{"a: f ended: flush", "a: w ended: flush"} {
				if n := strings.Count(q.log.String(), f); n != 1 {
					t.Errorf("%q %d times", f, n)
				}
			}
			if n := q.a.eng.Live(); n != 0 {
				t.Errorf("%d requests are out", n)
			}
		})
	}
}

// A million fences while nothing is acknowledged, with work now and then as far as it is taken: nothing grows with them.
func TestMillionFencesWithoutCompletions(t *testing.T) {
	s := newStage(t, 2, wire.ModeFailover)
	s.do(t, strings.Fields("cut a0 silence"))
	s.do(t, strings.Fields("cut a1 silence"))
	s.do(t, strings.Fields("put2 a 0"))
	fence := func(n int) (taken int) {
		for i := range n {
			s.a.ep.Fence()
			s.a.eng.Fence()
			if i%100 == 0 {
				if r, err := s.a.ep.PostPut(make([]byte, 8), s.b.key, 0); err == nil {
					taken++
					s.a.eng.Release(r)
				}
			}
		}
		return taken
	}
	if fence(1_000_000) == 0 {
		t.Fatal("nothing was posted")
	}
	if fence(100) > 0 {
		t.Fatal("more and more is taken")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	fence(1_000_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(s)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("a million fences keep %d bytes", grown)
	}
}
