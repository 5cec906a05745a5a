package crank

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/sleep"
)

// caller says whether the calling goroutine came through a function.
func caller(name string) bool {
	b := make([]byte, 16<<10)
	return strings.Contains(string(b[:runtime.Stack(b, false)]), name)
}

// TestWhoTurns: who waits makes the turns in his own goroutine, and the library's makes none meanwhile, though it is woken; who sleeps at once leaves all to it.
func TestWhoTurns(t *testing.T) {
	for policy, waits := range map[sleep.Policy]bool{sleep.Poll: true, sleep.AtOnce: false} {
		c, e := newCrank(t, false, policy)
		rests(t, c)
		var waiter, keeper atomic.Int64
		var some atomic.Bool
		c.Lock()
		e.turn = func() int {
			if caller("(*Crank).Wait") {
				waiter.Add(1)
			} else if c.keeper.Pollers.Load() > 0 || !waits {
				keeper.Add(1)
			}
			if !some.Swap(false) {
				return 0
			}
			e.taken()
			return 1
		}
		c.UnlockOnly()
		p := newPosted()
		over := waiting(context.Background(), c, p.r)
		eventually(t, "somebody waits", func() bool { return waiter.Load() > 0 || !waits })
		for range 20 {
			some.Store(true)
			e.arrive() // wakes the keeper if it sleeps
			eventually(t, "what arrives is taken", func() bool { return !some.Load() })
		}
		if waits != (waiter.Load() > 0) || waits != (keeper.Load() == 0) {
			t.Errorf("policy %d: %d turns of who waits, %d of the keeper", policy, waiter.Load(), keeper.Load())
		}
		c.Lock()
		p.r.End(nil)
		c.UnlockOnly()
		if err := within(t, "the end", over); err != nil {
			t.Error(err)
		}
	}
}

// TestGoroutines: a Shared worker has one goroutine, an Owned one none.
func TestGoroutines(t *testing.T) {
	for owned, more := range map[bool]int{true: 0, false: 1} {
		before := runtime.NumGoroutine()
		c, _ := newCrank(t, owned, sleep.Adaptive)
		if n := runtime.NumGoroutine() - before; n > more || n < more && !owned {
			t.Errorf("owned %v: %d goroutines more", owned, n)
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
}

// TestNoLock: an Owned worker takes none in its turns, and no user's code runs under that of a Shared one.
func TestNoLock(t *testing.T) {
	owned, e := newCrank(t, true, sleep.Adaptive)
	e.turn = func() int { return 1 }
	owned.mu.Lock()
	over := make(chan int, 1)
	go func() { over <- owned.Progress() }()
	within(t, "a turn while somebody holds the lock", over)
	owned.mu.Unlock()

	shared, f := newCrank(t, false, sleep.Adaptive)
	inside := make(chan struct{})
	shared.Lock()
	f.queue.Done(func(error) {
		defer close(inside)
		free := make(chan struct{})
		go func() {
			shared.Lock()
			close(free)
			shared.Unlock()
		}()
		select {
		case <-free:
		case <-time.After(patience):
			t.Error("user code runs under the lock")
		}
	}, nil)
	shared.Unlock()
	within(t, "the call", inside)
}
