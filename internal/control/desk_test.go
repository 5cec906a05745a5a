package control

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/inspect"
)

func answers(name string) func() inspect.Worker {
	return func() inspect.Worker { return inspect.Worker{Endpoints: []inspect.Endpoint{{Name: name}}} }
}

// TestTwoAsk: several may ask the owner of a worker before he comes; each gets his answer.
func TestTwoAsk(t *testing.T) {
	var a Asked
	var asked sync.WaitGroup
	woken := make(chan bool, 3)
	for range cap(woken) {
		asked.Go(func() {
			w := Worker{Owned: true, Asked: &a, Wake: func() { woken <- true }, Look: answers("x")}
			if d := w.look(); d.Silent || d.Mode != "owned" || len(d.Endpoints) != 1 {
				t.Errorf("he answered, and %+v is what is known", d)
			}
		})
	}
	for range cap(woken) {
		<-woken
	}
	a.Answer()
	asked.Wait()
	if a.Answer(); len(a.questions) > 0 {
		t.Error("a question is left")
	}
}

// TestStuck: workers that nobody can look at are waited for no longer than a second, all together, and the others are shown.
func TestStuck(t *testing.T) {
	d := Desk{on: true, now: func() time.Duration { return time.Second }}
	var stuck, free sync.Mutex
	stuck.Lock()
	wake := func() {}
	for range 3 {
		d.Add(&Worker{Mu: &stuck, Look: answers("stuck")})
		d.Add(&Worker{Owned: true, Asked: new(Asked), Wake: wake, Look: answers("idle")})
	}
	d.Add(&Worker{Mu: &free, Look: answers("free")})
	done := make(chan *inspect.Process)
	go func() { done <- d.process("x") }()
	select {
	case p := <-done:
		for i, w := range p.Workers {
			if mode := []string{"shared", "owned"}[i%2]; w.Silent != (i < 6) || w.Mode != mode {
				t.Errorf("worker %d: %+v", i, w)
			}
		}
		if len(p.Workers) != 7 || p.Workers[6].Endpoints[0].Name != "free" {
			t.Errorf("%+v", p.Workers)
		}
	case <-time.After(2*askedWithin + 900*time.Millisecond):
		t.Error("to look at all takes as long as the slowest ones together")
	}
	stuck.Unlock()
}

// TestNothingSaid: a process that is stopped keeps nobody waiting for ever.
func TestNothingSaid(t *testing.T) {
	defer func(was time.Duration) { patience = was }(patience)
	patience = 50 * time.Millisecond
	dir := t.TempDir()
	ln, err := net.Listen("unix", Path(dir, os.Getpid(), 0))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err = Ask(ctx, Target{Dir: dir, PID: os.Getpid()}, Request{Do: "inspect"}, func(Reply) error { return nil })
	if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "has said nothing for 50ms") {
		t.Errorf("the error is %v", err)
	}
}

// TestCloseTwice: also at the same time.
func TestCloseTwice(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Listen(dir, Handler{Inspect: func() any { return "fine" }})
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { s.Close() })
	}
	both.Wait()
}
