package braid_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestCloseUnderPollers: a Shared worker closes though somebody goes on to call its Progress.
func TestCloseUnderPollers(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	var over atomic.Bool
	var pollers sync.WaitGroup
	for range 2 {
		pollers.Go(func() {
			for !over.Load() {
				p.aw.Progress()
			}
		})
	}
	for range 100 { // so that the keeper leaves progress to them
		p.b.PostAM(1, nil, nil).Release()
		time.Sleep(100 * time.Microsecond)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.aw.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("Close waits for who polls")
	}
	over.Store(true)
	pollers.Wait()
}

// TestKeeperComesBack: when polling ends in the middle of things, in a handler that blocks or by just not calling any more, the library goes on.
func TestKeeperComesBack(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, quiet(), quiet())
	blocked, release := make(chan struct{}), make(chan struct{})
	p.aw.HandleAM(1, func(*braid.Message) {})
	p.aw.HandleAM(2, func(*braid.Message) { close(blocked); <-release })
	var poller sync.WaitGroup
	poller.Go(func() {
		for {
			select {
			case <-blocked:
				return
			default:
				p.aw.Progress()
			}
		}
	})
	for range 200 {
		p.b.PostAM(1, nil, nil).Release()
		time.Sleep(50 * time.Microsecond)
	}
	p.b.PostAM(2, nil, nil).Release()
	<-blocked
	if err := p.b.Flush(ctx); err != nil {
		t.Error("nobody answers while a handler blocks:", err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error("a flush beside a handler that blocks:", err)
	}
	close(release)
	poller.Wait()
	done := make(chan struct{})
	p.aw.HandleAM(3, func(*braid.Message) { close(done) })
	p.b.PostAM(3, nil, nil).Release()
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("no message is handled after polling has ended")
	}
}

// TestGoroutinesOfModes: each Shared worker has one goroutine of the library, an Owned one has none.
func TestGoroutinesOfModes(t *testing.T) {
	tidy(t)
	for owned, each := range map[bool]int{true: 0, false: 1} {
		n, err := braid.Open(braid.Options{Owned: owned})
		if err != nil {
			t.Fatal(err)
		}
		const workers = 5
		newWorker(t, n) // what the node itself needs is there
		grew := -1
		for try := 0; grew != workers*each && try < 20; try++ { // others of this process may end meanwhile
			before := runtime.NumGoroutine()
			for range workers {
				newWorker(t, n)
			}
			grew = runtime.NumGoroutine() - before
		}
		if grew != workers*each {
			t.Errorf("owned %v: %d goroutines of %d workers", owned, grew, workers)
		}
		n.Close()
	}
}
