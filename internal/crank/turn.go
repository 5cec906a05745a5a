package crank

import (
	"context"
	"time"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
)

// Progress is a turn, and what became due in it; it returns how much was done. It shares the processor.
func (c *Crank) Progress() int {
	n := c.progress()
	c.pace.Note(n)
	return n
}

// sleepless so many polls since he last meant to sleep, who owns a worker does not wait for its descriptors.
const sleepless = 256

func (c *Crank) progress() int {
	if c.Owned && c.pace.Polls()-c.watched == sleepless {
		c.eng.Watch(false)
	}
	n, due, _ := c.turn()
	if due {
		n += c.runAll(false)
		if c.Owned {
			c.eng.Flush() // what the calls posted
		}
	}
	return n
}

// turn is one turn of the engine. due says that there are calls to be run, posts how many calls may have posted before it.
func (c *Crank) turn() (n int, due bool, posts uint32) {
	c.Lock()
	posts = c.posts
	if !c.closed {
		c.Hear()
		n = c.eng.Turn()
	}
	due = c.queue.Len() > 0
	if c.above.queue.Len() > 0 {
		due = true
		c.above.due.Store(true)
	}
	if n > 0 && c.keeper.Asleep() {
		c.Unlock() // the turn may have made something due before the keeper wakes
	} else {
		c.UnlockOnly()
	}
	return n, due, posts
}

// busy polls since the keeper slept are reason enough for it to stay away.
const busy = 32

// Unwatch: the keeper stays away, so nobody waits for the descriptors before it sleeps again.
func (c *Crank) Unwatch() {
	c.mu.Lock()
	if !c.keeper.Asleep() { // else somebody stands in for it, and sleeps by now
		c.eng.Watch(false)
	}
	c.mu.Unlock()
}

// polled says that others make progress: some wait, or have called Progress often since there were so many polls. On a closed
// worker nobody does, however often he tries.
func (c *Crank) polled(before uint32) bool {
	if c.keeper.Pollers.Load() == 0 && c.pace.Polls()-before < busy {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed
}

// sleep returns when something arrived or is due; false means that the worker is closed.
func (c *Crank) sleep() bool {
	c.relief.Role.Lock()
	defer c.relief.Role.Unlock()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	if c.callsDue() {
		c.mu.Unlock()
		return true
	}
	c.eng.Watch(true)
	due := c.eng.Deadline()
	at, timeout := int64(-1), time.Duration(-1)
	if due != 0 {
		at, timeout = int64(due), max(0, due-c.Now())
	}
	c.keeper.WakeAt.Store(at)
	c.mu.Unlock()
	c.sleeper.Wait(timeout)
	c.keeper.WakeAt.Store(0)
	return true
}

// Wait makes progress until r's end for the user: then done is true. If the context is over first, the user is let go of, and err says why.
func (c *Crank) Wait(ctx context.Context, r *request.Request) (done bool, err error) {
	if c.Owned {
		return c.waitOwned(ctx, r)
	}
	c.keeper.Poll(ctx, r)
	if !r.Ended() {
		c.mu.Lock()
		wake := r.Wake()
		ended := r.Reported
		c.Unlock() // the last turn may have made something due before the keeper wakes
		c.keeper.Come()
		if !ended {
			select {
			case <-wake:
			case <-ctx.Done():
			}
		}
	}
	if r.Ended() {
		return true, nil
	}
	c.Lock()
	defer c.Unlock()
	if r.Ended() {
		return true, nil
	}
	return false, c.eng.Abandon(r, ctx.Err())
}

// Share has somebody wait for an event of a room above this one's: see sleep.Keeper.
func (c *Crank) Share(ctx context.Context, e sleep.Event) { c.keeper.Share(ctx, e) }

func (c *Crank) waitOwned(ctx context.Context, r *request.Request) (done bool, err error) {
	var nap sleep.Nap
	defer nap.End()
	for idle := 0; !r.Ended(); {
		if ctx.Err() != nil {
			return false, c.eng.Abandon(r, ctx.Err())
		}
		n := c.progress()
		if n > 0 {
			idle = 0
		} else {
			idle++
		}
		if c.pace.Waited(n, idle) {
			c.slumber(ctx, &nap)
		}
	}
	return true, nil
}

// watch has the descriptors of an Owned worker tell of what arrives: its owner means to sleep.
func (c *Crank) watch() {
	c.watched = c.pace.Polls()
	c.eng.Watch(true)
}

// slumber sleeps until something arrives or is due, or the context is over.
func (c *Crank) slumber(ctx context.Context, nap *sleep.Nap) {
	timeout := nap.Next(ctx, c.Wake)
	c.watch()
	if due := c.eng.Deadline(); due != 0 {
		if left := max(0, due-c.Now()); timeout < 0 || left < timeout {
			timeout = left
		}
	}
	c.sleeper.Wait(timeout)
}
