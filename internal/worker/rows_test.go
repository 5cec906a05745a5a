package worker_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
)

// What reviewers and CI found in UCX's series on fences across lane changes: each finding that can be one here is a test.
// docs/ucx-map.md has those that can't.

// Row 1: a request whose end was reported from inside its queue may be another operation's by then, and is not touched.
func TestRow1_RequestIsReusedInsideItsQueue(t *testing.T) {
	s := newStage(t, 2, wire.ModeFailover)
	ended := make([]int, 300)
	var post func(i int)
	post = func(i int) {
		if i >= len(ended) {
			return
		}
		if i%5 == 0 {
			s.a.ep.Fence()
		}
		r, err := s.a.ep.PostPut(make([]byte, 1<<(10+i%8)), s.b.key, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			ended[i]++
			return
		}
		s.a.eng.Then(r, func(err error) {
			if ended[i]++; err != nil {
				t.Error(err)
			}
			post(i + 100) // with the request that just ended
		})
	}
	for i := range 100 {
		post(i)
	}
	s.do(t, strings.Fields("break d1 reset"))
	for range 10 {
		s.do(t, []string{"settle"})
	}
	for i, n := range ended[:100] {
		if n != 1 {
			t.Errorf("put %d ended %d times", i, n)
		}
	}
	for i, n := range ended {
		if n > 1 {
			t.Errorf("put %d ended %d times", i, n)
		}
	}
	if n := s.a.eng.Live(); n != 0 {
		t.Errorf("%d requests are out", n)
	}
}

// Row 2: to wait for a fence is no error, and nothing that looks for errors sees one.
func TestRow2_FencedIsNoError(t *testing.T) {
	s := newStage(t, 2, wire.ModeFailover)
	if _, err := s.a.ep.PostPut(make([]byte, 100_000), s.b.key, 0); err != nil {
		t.Fatal(err)
	}
	s.a.ep.Fence()
	r, err := s.a.ep.PostPut(make([]byte, 8), s.b.key, 0)
	if r == nil || err != nil || r.Reported || r.Err != nil {
		t.Fatalf("behind a fence: %v, %v", r, err)
	}
	if s.a.ep.Stats().Fenced == 0 {
		t.Fatal("it did not wait")
	}
	s.do(t, []string{"settle"})
	if n := s.a.ep.Stats().Fenced; n != 1 {
		t.Errorf("it waited at one fence, and %d are counted", n)
	}
	if !r.Reported || r.Err != nil || s.a.ep.Err() != nil {
		t.Fatalf("ended %v with %v, endpoint %v", r.Reported, r.Err, s.a.ep.Err())
	}
}

// Row 6: operations that wait from before the first lane, atomic ones among them, behind fences, while lanes come, go and come: each is
// posted from a turn, in its order, and nothing waits inside another.
func TestRow6_FencesWhileQueuedOperationsAreReplayed(t *testing.T) {
	s := newStage(t, 2, wire.ModeFailover)
	ep, dial, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
	if err != nil {
		t.Fatal(err)
	}
	s.a.ep = ep
	for _, l := range strings.Split("put a 0; put2 a 100000; fence a; am a; wfence a; get a 0 g; fence a; fadd a v; add a; wfence a; put2 a 300000; fence a; am a; flush a f", ";") {
		s.do(t, strings.Fields(l))
	}
	for i := 0; len(ep.Lanes()) == 0 || ep.State() == life.Dialing; i++ {
		if i > 1000 {
			t.Fatal("no lane")
		}
		s.turn()
	}
	s.do(t, strings.Fields("break "+ep.Lanes()[0].Instance.String()+" reset"))
	s.do(t, []string{"settle"})
	s.do(t, []string{"settle"})
	s.a.eng.Release(dial)
	inOrder(t, s.log.String(), []string{"at 0", "AM payload", "Get payload", "GetData", "AtomicOp", "AtomicOp", "at 300000", "handled message 1", "a: f ended: <nil>"})
	if err := ep.Idle(); err != nil {
		t.Error(err)
	}
}
