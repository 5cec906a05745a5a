package crank

import (
	"sync/atomic"

	"github.com/openbraid/braid/internal/delivery"
)

// above runs the code of the library's own families: what they do with the messages of a stream. It waits for nobody, so it is run by whoever finds some, also while
// a call of the user's waits for what it brings.
type above struct {
	queue   *delivery.Queue
	due     atomic.Bool // there may be some
	running atomic.Bool
	calls   []delivery.Call
}

// runAbove runs what is due: one call at a time, in order, without the lock. keeper: it is the keeper who does.
func (c *Crank) runAbove(keeper bool) (n int) {
	a := &c.above
	for a.due.Load() && a.running.CompareAndSwap(false, true) {
		c.Lock()
		a.calls = a.queue.Take(a.calls[:0])
		calls := a.calls
		if len(calls) == 0 {
			a.due.Store(false) // before the lock is free, as the user's
			a.running.Store(false)
			c.UnlockOnly()
			break
		}
		c.UnlockOnly()
		if keeper {
			c.relief.After.Reset(relieveAfter) // there may be many
		}
		for i := range calls {
			a.queue.Run(&calls[i])
		}
		if keeper {
			c.relief.After.Stop()
		}
		c.Lock()
		a.queue.Finish(calls)
		c.Unlock()
		n += len(calls)
		a.running.Store(false)
	}
	return n
}
