package crank

import (
	"context"
	"time"
)

// FD is the descriptor that Arm arms, negative if there is none.
func (c *Crank) FD() int { return c.sleeper.FD() }

// Arm prepares the descriptor, unless an Owned worker has something to do now.
func (c *Crank) Arm() bool {
	if !c.Owned || c.closed || c.sleeper.FD() < 0 {
		return false
	}
	c.Lock()
	defer c.UnlockOnly()
	after, idle := c.idle()
	return idle && c.sleeper.Arm(after)
}

// idle says whether an Owned worker has nothing to do, and for how long unless something arrives; negative: for ever.
func (c *Crank) idle() (after time.Duration, idle bool) {
	c.eng.Flush() // what was posted since the last turn
	c.watch()
	if c.callsDue() {
		return 0, false
	}
	due := c.eng.Deadline()
	if due == 0 {
		return -1, true
	}
	after = due - c.Now()
	return after, after > 0
}

// Sleep sleeps until an Owned worker has something to do, somebody calls Wake, or the context is over.
func (c *Crank) Sleep(ctx context.Context) error {
	c.Lock()
	defer c.UnlockOnly()
	after, idle := c.idle()
	if !idle {
		return nil
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, c.Wake)
		defer stop()
	}
	c.sleeper.Wait(after)
	return ctx.Err()
}

// Wake ends the present or the next sleep. From any goroutine.
func (c *Crank) Wake() {
	c.mu.Lock()
	if !c.closed {
		c.sleeper.Wake()
	}
	c.mu.Unlock()
}
