package crank

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/sleep"
)

// TestArm: an owner may sleep unless something is due, and then for so long; what he posted is sent first.
func TestArm(t *testing.T) {
	c, e := newCrank(t, true, sleep.Adaptive)
	if c.FD() < 0 {
		t.Skip("no descriptor on this system")
	}
	if !c.Arm() || e.flush.Load() != 1 || !e.watch.Load() {
		t.Errorf("at rest: %d flushes, watched %v", e.flush.Load(), e.watch.Load())
	}
	call, came := once(t)
	e.queue.Done(call, nil)
	if c.Arm() {
		t.Error("armed over a call that is due")
	}
	c.RunCalls()
	within(t, "the call", came)
	if e.due = 1; c.Arm() {
		t.Error("armed over a time that has come")
	}
	if e.due = clock() + time.Hour; !c.Arm() {
		t.Error("not armed though the time is far")
	}
	e.due = 0
	if e.arrive(); c.Arm() {
		t.Error("armed over what has arrived")
	}
	if e.taken(); !c.Arm() {
		t.Error("not armed at rest")
	}
	if c.Wake(); c.Arm() {
		t.Error("armed over a wake-up")
	}
	if !c.Arm() {
		t.Error("one wake-up is answered twice")
	}
	shared, _ := newCrank(t, false, sleep.Adaptive)
	if shared.Arm() {
		t.Error("armed where the keeper would race for each arrival")
	}
	if c.Close(); c.Arm() {
		t.Error("armed when closed")
	}
}

// TestOwnerSleeps: until something arrives, a time has come, somebody wakes him, or the context is over.
func TestOwnerSleeps(t *testing.T) {
	c, e := newCrank(t, true, sleep.Adaptive)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := c.Sleep(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) < 20*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	all, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	for name, wake := range map[string]func(){"arrival": e.arrive, "wake-up": c.Wake, "time": nil} {
		var due atomic.Bool // there is a reason to wake
		woke := make(chan struct{})
		if wake == nil {
			e.due = clock() + 10*time.Millisecond
		}
		time.AfterFunc(10*time.Millisecond, func() {
			due.Store(true)
			if wake != nil {
				wake()
			}
			close(woke)
		})
		early := 0
		for !due.Load() && (e.due == 0 || clock() < e.due) {
			if err := c.Sleep(all); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			early++
		}
		if early > 5 { // a signal may end a sleep
			t.Errorf("%s: woke %d times", name, early)
		}
		<-woke
		if name == "arrival" {
			e.taken()
		}
		e.due = 0
		c.sleeper.Wait(0)
	}
	e.due = 1
	if err := c.Sleep(all); err != nil {
		t.Error(err)
	}
	e.due = 0
}

// TestOwnerPolls: who has polled for a while is not told of arrivals any more, until he means to sleep.
func TestOwnerPolls(t *testing.T) {
	c, e := newCrank(t, true, sleep.Adaptive)
	c.watch()
	for i := range 4 * sleepless {
		c.Progress()
		if on := i < sleepless; e.watch.Load() != on {
			t.Fatalf("turn %d: watched %v", i, !on)
		}
	}
	c.Wake()
	c.Sleep(context.Background())
	if !e.watch.Load() {
		t.Error("asleep, and not watched")
	}
}

// TestInside: only user code of an Owned worker is where nobody else makes progress.
func TestInside(t *testing.T) {
	for _, owned := range []bool{true, false} {
		c, e := newCrank(t, owned, sleep.Adaptive)
		inside := make(chan bool, 1)
		c.Lock()
		e.queue.Done(func(error) { inside <- c.Inside() }, nil)
		c.UnlockOnly()
		c.RunCalls()
		if got := within(t, "the call", inside); got != owned || c.Inside() {
			t.Errorf("owned %v: inside %v, and outside %v", owned, got, c.Inside())
		}
	}
}
