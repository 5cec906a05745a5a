package crank

import (
	"sync"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/invariants"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
)

// Engine is what is cranked.
type Engine interface {
	Turn() int
	Flush()
	Watch(on bool)
	Deadline() time.Duration
	Calls() *delivery.Queue
	Above() *delivery.Queue
	// Abandon lets a request's user go before its end, because of cause.
	Abandon(r *request.Request, cause error) error
	EventFDs() []int
	Close() error
}

// Crank is that of one worker. Open makes it.
type Crank struct {
	Owned bool // by one goroutine
	Hear  func()
	Now   func() time.Duration

	eng   Engine
	queue *delivery.Queue
	solo  invariants.Solo // the engine of an Owned worker has one goroutine inside

	mu      sync.Mutex // of the engine; if owned, of Wake only
	closed  bool
	sleeper *sleep.Sleeper
	pace    sleep.Pace
	keeper  sleep.Keeper
	watched uint32 // polls when the owner last meant to sleep
	posts   uint32 // calls of a Shared worker that may have posted

	runner
}

// Open begins. Owned, Hear (run before each turn) and Now (the engine's clock) are set before.
func (c *Crank) Open(eng Engine, policy sleep.Policy) (err error) {
	c.eng, c.queue, c.above.queue = eng, eng.Calls(), eng.Above()
	c.pace.Solo = c.Owned
	c.pace.Init(policy)
	c.keeper.Init(sleep.Kept{Sleep: c.sleep, Polled: c.polled, Unwatch: c.Unwatch, Turn: c.turn, Calls: func() int { return c.runAll(false) }, Keep: c.relieved,
		Leave: c.leave, Pace: &c.pace})
	if c.sleeper, err = sleep.New(eng.EventFDs()); err != nil {
		return err
	}
	if c.Owned {
		close(c.keeper.Done)
		return nil
	}
	c.relief.After = time.AfterFunc(time.Hour, c.standIn)
	c.relief.After.Stop()
	go c.keeper.Run()
	return nil
}

// leave: who polled does not any more, so the keeper may have to wake sooner.
func (c *Crank) leave() {
	c.Lock()
	defer c.Unlock()
}

// oneOwner is what a program broke that panics under the build tag "invariants".
const oneOwner = "all calls of an Owned worker and of its endpoints come from one goroutine, only Worker.Wake may come from others; " +
	"use a Shared worker (Options.Owned: false), or Wake the owner and hand him what is to be done"

// Lock comes into the engine.
func (c *Crank) Lock() {
	if c.Owned {
		c.solo.Enter(oneOwner)
	} else {
		c.mu.Lock()
	}
}

// Unlock goes out of it. It also hands to the system what was posted, and wakes the keeper if something is due before it would wake by itself: a
// time, or a callback. Under the lock, since Close takes the bell away.
func (c *Crank) Unlock() {
	if c.Owned {
		c.solo.Leave()
		return
	}
	c.posts++
	c.eng.Flush()
	if at := c.keeper.WakeAt.Load(); at != 0 && !c.closed {
		due := c.eng.Deadline()
		if c.callsDue() || due != 0 && (at < 0 || int64(due) < at) {
			c.sleeper.Wake()
		}
	}
	c.mu.Unlock()
}

// UnlockOnly is Unlock for calls that post nothing.
func (c *Crank) UnlockOnly() {
	if c.Owned {
		c.solo.Leave()
	} else {
		c.mu.Unlock()
	}
}

// Mutex is the lock of a Shared worker's engine.
func (c *Crank) Mutex() *sync.Mutex { return &c.mu }

// Closed says whether Close was called. Under the lock.
func (c *Crank) Closed() bool { return c.closed }

// Inside says whether the caller is user code of an Owned worker, which nobody else could make progress for.
func (c *Crank) Inside() bool { return c.mine }

// Close closes the engine. It waits for the user's code that runs; called from inside that it does not.
func (c *Crank) Close() error {
	first, err := c.end()
	switch {
	case !first:
		return nil
	case !c.Owned && c.running.Load() && delivery.Inside():
		go c.finish()
	default:
		c.finish()
	}
	return err
}

// finish is the part of Close that waits.
func (c *Crank) finish() {
	c.RunCalls()
	<-c.keeper.Done
	if !c.Owned {
		c.relief.After.Stop()
		c.relief.Running.Wait()
	}
	c.sleeper.Close()
}

// end is the part of Close that touches the engine.
func (c *Crank) end() (first bool, err error) {
	if c.Owned {
		c.solo.Enter(oneOwner)
		defer c.solo.Leave()
	}
	c.mu.Lock() // against Wake, if owned
	defer c.mu.Unlock()
	if c.closed {
		return false, nil
	}
	c.closed = true
	err = c.eng.Close()
	c.sleeper.Wake()
	c.keeper.Come()
	return true, err
}
