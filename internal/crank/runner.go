package crank

import (
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/sleep"
)

// runner runs the user's code: handlers, callbacks, events. One call at a time, in order, without a lock.
type runner struct {
	running atomic.Bool // somebody runs the calls
	mine    bool        // the same of an Owned worker, where nobody else looks
	calls   []delivery.Call
	relief  sleep.Relief
	above   above
}

const (
	// relieveAfter is how long calls may take before somebody stands in for the keeper.
	relieveAfter = 2 * time.Millisecond
	// finishEvery so many calls what they held is given back.
	finishEvery = 16
)

// callsDue says that there are calls and nobody who runs them: whoever does looks again before he ends. Under the lock.
func (c *Crank) callsDue() bool {
	return c.queue.Len() > 0 && !c.mine && !c.running.Load() || c.above.queue.Len() > 0 && !c.above.running.Load()
}

// CallsAfterClose runs what is due on a closed worker: nobody else does.
func (c *Crank) CallsAfterClose() {
	c.Lock()
	closed := c.closed
	c.UnlockOnly()
	if closed {
		c.RunCalls()
	}
}

// RunCalls runs the callbacks that are due, one at a time and in order. A callback that waits makes
// progress, but the calls which that brings are for this loop to run.
func (c *Crank) RunCalls() (n int) {
	c.above.due.Store(true)
	return c.runAll(false)
}

// runAll is RunCalls of what a turn has found. keeper: it is the keeper who runs them, so somebody comes if they take their time.
func (c *Crank) runAll(keeper bool) (n int) {
	n = c.runAbove(keeper)
	if c.Owned {
		return n + c.runOwned()
	}
	for c.running.CompareAndSwap(false, true) {
		k := c.runBatch(keeper)
		if k == 0 {
			break
		}
		n += k
	}
	return n
}

// runOwned is runAll's loop for an Owned worker: without an atomic operation, each of which takes as long as a few dozen instructions, and waits besides for what
// was written last.
func (c *Crank) runOwned() (n int) {
	for !c.mine && c.queue.Len() > 0 {
		c.mine = true
		n += c.runBatch(false)
	}
	return n
}

// ran notes that the calls are run.
func (c *Crank) ran() {
	if c.Owned {
		c.mine = false
		return
	}
	c.running.Store(false)
}

// runBatch runs the callbacks that are due now. One that panics, under somebody who recovers, takes nothing with it.
func (c *Crank) runBatch(keeper bool) (n int) {
	c.Lock()
	c.calls = c.queue.Take(c.calls[:0])
	rest := c.calls
	if n = len(rest); n == 0 {
		c.ran() // before the lock is free: what comes after this look must find nobody running
		c.UnlockOnly()
		return 0
	}
	c.Unlock()  // what the turn made due may be due before the calls are over
	if keeper { // from inside: who stands in leaves when nobody runs calls, and may come late
		c.relief.After.Reset(relieveAfter)
		defer c.relief.After.Stop()
	}
	ran := 0
	defer func() {
		c.Lock()
		c.queue.Finish(rest[:ran])
		c.queue.PutBack(rest[ran:])
		c.Unlock()
		c.ran()
		if ran < len(rest) && !c.Owned {
			c.Wake()
		}
	}()
	for ran < len(rest) {
		if ran == finishEvery {
			c.Lock()
			c.queue.Finish(rest[:ran])
			c.Unlock()
			rest, ran = rest[ran:], 0
		}
		ran++
		c.queue.Run(&rest[ran-1])
	}
	return n
}

// relieved is a turn of the keeper. The timer is the keeper's alone; who stands in needs none, for the keeper is free when another
// runs the calls.
func (c *Crank) relieved() int {
	n, due, _ := c.turn()
	if due {
		n += c.runAll(true)
	}
	return n
}

// standIn sleeps and makes progress in place of somebody whose callbacks take their time, until they are done.
func (c *Crank) standIn() {
	c.relief.StandIn(&c.mu, func() bool { return (c.running.Load() || c.above.running.Load()) && !c.closed }, func() {
		if c.sleep() {
			if _, due, _ := c.turn(); due {
				c.RunCalls()
			}
		}
	})
}
