package crank

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/sleep"
)

// Invariant 1: whoever waits, polls, wakes and posts at once, one is inside. Invariant 2: so with the user's calls, which come in order.
func TestOneInside(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	const waits = 400
	var next, came atomic.Int64
	var running atomic.Int32
	e.turn = func() int {
		if next.Load() >= waits {
			return 0
		}
		n := next.Add(1)
		e.queue.Done(func(error) {
			if running.Add(1) > 1 {
				t.Error("two calls run at once")
			}
			if got := came.Add(1); got != n {
				t.Errorf("call %d came as number %d", n, got)
			}
			running.Add(-1)
		}, nil)
		return 1
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				switch i % 3 {
				case 0:
					c.Progress()
				case 1:
					c.Wake()
				case 2:
					ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
					c.Wait(ctx, newPosted().r)
					cancel()
				}
			}
		})
	}
	eventually(t, "all calls", func() bool { return came.Load() == waits })
	close(over)
	all.Wait()
}

// Invariant 3, by a turn: a poller's turn that makes something due, before the keeper would wake by itself, wakes it; then nobody polls any more.
func TestTurnWakesKeeper(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	call, came := once(t)
	c.Lock()
	e.turn = func() int {
		e.due = clock() + 5*time.Millisecond
		e.turn = func() int {
			if e.due == 0 || clock() < e.due {
				return 0
			}
			e.due = 0
			e.queue.Done(call, nil)
			return 1
		}
		return 1
	}
	c.UnlockOnly()
	if n, due, _ := c.turn(); n != 1 || due {
		t.Fatal(n, due)
	}
	within(t, "the keeper makes the turn that is due", came)
}

// A turn of the keeper itself, which is awake, has nobody to wake and nothing to hand to the system that the engine did not: it flushes nothing.
func TestTurnOfTheAwake(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	const full = 20
	left := full
	var was int64
	over := make(chan int64, 1)
	c.Lock()
	e.turn = func() int {
		if c.keeper.Asleep() {
			t.Error("the keeper makes turns and says that it sleeps")
		}
		if left--; left == full-1 {
			was = e.flush.Load()
		}
		if left > 0 {
			return 1
		}
		if left == 0 {
			over <- e.flush.Load() - was
		}
		return 0
	}
	c.UnlockOnly()
	c.Wake()
	if n := within(t, "the keeper's turns", over); n != 0 {
		t.Errorf("%d flushes in %d turns of the keeper", n, full)
	}
}

// Invariant 3, by a call: what a user posts has the keeper wake if it is due sooner than that would by itself, and only then.
func TestUnlockWakesKeeper(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	const calls = 20
	turns := func() int64 { // of the keeper, for calls after which it has nothing to do; a signal may wake it
		was := e.turns.Load()
		for range calls {
			c.Lock()
			e.posts++
			c.Unlock()
			time.Sleep(500 * time.Microsecond)
		}
		return e.turns.Load() - was
	}
	if n := turns(); n > calls/4 || e.flush.Load() < calls {
		t.Errorf("%d turns for nothing; %d flushes of %d calls", n, e.flush.Load(), calls)
	}
	call, came := once(t)
	c.Lock()
	e.queue.Done(call, nil)
	c.Unlock()
	within(t, "a callback that is due", came)
	rests(t, c)
	c.Lock()
	e.due = clock() + time.Hour
	c.Unlock()
	eventually(t, "it sleeps until the time that is due", func() bool { return c.keeper.WakeAt.Load() > 0 })
	c.Lock()
	e.due += time.Hour // later than it wakes
	c.Unlock()
	if n := turns(); n > calls/4 {
		t.Errorf("%d turns for what is due later", n)
	}
	call, came = once(t)
	c.Lock()
	e.due = clock() + time.Millisecond
	e.turn = func() int {
		if e.due == 0 || clock() < e.due {
			return 0
		}
		e.due = 0
		e.queue.Done(call, nil)
		return 1
	}
	c.Unlock()
	within(t, "what is due sooner", came)
}

// An arrival wakes the keeper, which watches; while others poll it stays away, and nobody watches; when they stop it is back.
func TestKeeperStaysAway(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	got := make(chan struct{}, 1)
	c.Lock()
	var some bool
	e.turn = func() int {
		if !some {
			return 0
		}
		some = false
		e.taken()
		got <- struct{}{}
		return 1
	}
	c.UnlockOnly()
	arrive := func() {
		c.Lock()
		some = true
		c.UnlockOnly()
		e.arrive()
	}
	for range 3 {
		rests(t, c)
		if !e.watch.Load() {
			t.Error("it sleeps on descriptors that nobody watches")
		}
		arrive()
		within(t, "the keeper takes what arrives", got)
		for end := time.Now().Add(patience); e.watch.Load(); c.Wake() { // it wakes, and finds that somebody polls
			for range 10 * busy {
				c.Progress()
			}
			if time.Now().After(end) {
				t.Fatal("somebody polls, and the descriptors are watched")
			}
		}
	}
}

// Unwatch by one who comes too late leaves the descriptors to who sleeps on them by now.
func TestUnwatchUnderASleeper(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	c.Unwatch()
	if !e.watch.Load() {
		t.Error("the descriptors are taken from under a sleeper")
	}
	c.keeper.WakeAt.Store(0) // as if it were awake
	c.Unwatch()
	if e.watch.Load() {
		t.Error("the descriptors are watched for nobody")
	}
}

// A call of the user's that takes its time under the keeper keeps nobody waiting: somebody stands in.
func TestStandIn(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	blocked, release := make(chan struct{}), make(chan struct{})
	p := newPosted()
	some := false
	c.Lock()
	e.queue.Done(func(error) { close(blocked); <-release }, nil)
	e.turn = func() int {
		if !some {
			return 0
		}
		some = false
		e.taken()
		p.r.End(nil)
		return 1
	}
	c.Unlock() // wakes the keeper, which runs it
	<-blocked
	over := waiting(context.Background(), c, p.r)
	time.Sleep(5 * time.Millisecond) // he waits asleep by now
	c.Lock()
	some = true
	c.UnlockOnly()
	e.arrive()
	if err := within(t, "a wait beside a call that blocks", over); err != nil {
		t.Error(err)
	}
	call, came := once(t)
	c.Lock()
	e.queue.Done(call, nil)
	c.Unlock()
	time.Sleep(5 * time.Millisecond)
	select {
	case <-came:
		t.Error("two calls run at once")
	default:
	}
	close(release)
	within(t, "the call behind", came)
}

// Who waits is told of the end, however he waits; if his context is over first, he is let go of, with its reason.
func TestWait(t *testing.T) {
	for _, owned := range []bool{false, true} {
		for _, policy := range []sleep.Policy{sleep.Adaptive, sleep.Poll, sleep.AtOnce} {
			c, e := newCrank(t, owned, policy)
			p := newPosted()
			begun, end := e.turns.Load(), make(chan struct{})
			if !owned {
				c.Lock()
			}
			arrived := false
			e.turn = func() int {
				select {
				case <-end:
				default:
					return 0
				}
				if arrived {
					return 0
				}
				arrived = true
				e.taken()
				p.r.End(nil)
				return 1
			}
			if !owned {
				c.UnlockOnly()
			}
			over := waiting(context.Background(), c, p.r)
			time.Sleep(5 * time.Millisecond)
			close(end)
			e.arrive()
			if err := within(t, "the end of a wait", over); err != nil || e.turns.Load() == begun {
				t.Errorf("owned %v, policy %d: %v", owned, policy, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			over = waiting(ctx, c, newPosted().r)
			time.Sleep(5 * time.Millisecond)
			cancel()
			if err := within(t, "the end of a context", over); !errors.Is(err, context.Canceled) || e.gone != context.Canceled {
				t.Errorf("owned %v, policy %d: %v, abandoned for %v", owned, policy, err, e.gone)
			}
		}
	}
}

// A call that panics takes no other with it: those behind it run, also if nobody comes.
func TestCallPanics(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	call, came := once(t)
	c.Lock()
	e.queue.Done(func(error) { panic("the user's") }, nil)
	e.queue.Done(call, nil)
	c.UnlockOnly() // nobody is woken
	func() {
		defer func() {
			if r := recover(); r != "the user's" {
				t.Errorf("recovered %v", r)
			}
		}()
		c.RunCalls()
	}()
	within(t, "the call behind one that panics", came)
}

// Close ends the engine once, whoever calls it and from where; what is due runs; nobody turns after it.
func TestClose(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	inside := make(chan error, 1)
	call, came := once(t)
	c.Lock()
	e.queue.Done(func(error) { inside <- c.Close() }, nil)
	e.queue.Done(call, nil)
	c.Unlock()
	if err := within(t, "Close inside a call", inside); err != nil {
		t.Error(err)
	}
	within(t, "the call behind", came)
	within(t, "the keeper's end", c.keeper.Done)
	turns := e.turns.Load()
	if c.Progress() != 0 || e.turns.Load() != turns || !c.Closed() {
		t.Error("a turn after Close")
	}
	call, came = once(t)
	c.Lock()
	e.queue.Done(call, nil)
	c.UnlockOnly()
	c.CallsAfterClose()
	within(t, "a call of a closed worker", came)
	c.Wake() // harmless
}

// Invariant 5: what a family has due runs while a call of the user's waits for it, in order, whoever makes the turns; and the user's own calls behind it don't.
func TestAboveWhileBlocked(t *testing.T) {
	c, e := newCrank(t, false, sleep.Adaptive)
	rests(t, c)
	blocked, release := make(chan struct{}), make(chan struct{})
	call, came := once(t)
	some := false
	const above = 100
	got := make(chan int, above)
	c.Lock()
	e.queue.Done(func(error) { close(blocked); <-release }, nil)
	e.turn = func() int {
		if !some {
			return 0
		}
		some = false
		e.taken()
		for i := range above {
			e.above.Done(func(error) { got <- i }, nil)
		}
		e.queue.Done(call, nil)
		return 1
	}
	c.Unlock()
	<-blocked
	c.Lock()
	some = true
	c.UnlockOnly()
	e.arrive()
	for i := range above {
		if n := within(t, "what a family has due", got); n != i {
			t.Fatalf("call %d came as number %d", n, i)
		}
	}
	select {
	case <-came:
		t.Error("two calls of the user's run at once")
	default:
	}
	close(release)
	within(t, "the call behind", came)
}
