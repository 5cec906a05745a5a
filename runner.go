package braid

import (
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/sleep"
)

// runner runs the user's code: handlers, callbacks, events. One call at a time, in order, without a lock.
type runner struct {
	running atomic.Bool // somebody runs the calls
	calls   []delivery.Call
	relief  sleep.Relief
}

const (
	// relieveAfter is how long calls may take before somebody stands in for the keeper.
	relieveAfter = 2 * time.Millisecond
	// finishEvery so many calls what they held is given back.
	finishEvery = 16
)

// callsDue says that there are calls and nobody who runs them: whoever does looks again before he ends. Under the lock.
func (w *Worker) callsDue() bool { return w.eng.Calls().Len() > 0 && !w.running.Load() }

// callsAfterClose runs what is due on a closed worker: nobody else does.
func (w *Worker) callsAfterClose() {
	w.lock()
	closed := w.closed
	w.unlockOnly()
	if closed {
		w.runCalls()
	}
}

// runCalls runs the callbacks that are due, one at a time and in order. A callback that waits makes
// progress, but the calls which that brings are for this loop to run.
func (w *Worker) runCalls() (n int) { return w.runAll(false) }

// runAll is runCalls. keeper: it is the keeper who runs them, so somebody comes if they take their time.
func (w *Worker) runAll(keeper bool) (n int) {
	for w.running.CompareAndSwap(false, true) {
		k := w.runBatch(keeper)
		if k == 0 {
			break
		}
		n += k
	}
	return n
}

// runBatch runs the callbacks that are due now. One that panics, under somebody who recovers, takes nothing with it.
func (w *Worker) runBatch(keeper bool) (n int) {
	w.lock()
	w.calls = w.eng.Calls().Take(w.calls[:0])
	rest := w.calls
	if n = len(rest); n == 0 {
		w.running.Store(false) // before the lock is free: what comes after this look must find nobody running
		w.unlockOnly()
		return 0
	}
	w.unlock()  // what the turn made due may be due before the calls are over
	if keeper { // from inside: who stands in leaves when nobody runs calls, and may come late
		w.relief.After.Reset(relieveAfter)
		defer w.relief.After.Stop()
	}
	ran := 0
	defer func() {
		w.lock()
		w.eng.Calls().Finish(rest[:ran])
		w.eng.Calls().PutBack(rest[ran:])
		w.unlock()
		w.running.Store(false)
		if ran < len(rest) && !w.owned {
			w.Wake()
		}
	}()
	for ran < len(rest) {
		if ran == finishEvery {
			w.lock()
			w.eng.Calls().Finish(rest[:ran])
			w.unlock()
			rest, ran = rest[ran:], 0
		}
		ran++
		w.eng.Calls().Run(&rest[ran-1])
	}
	return n
}

// relieved is a turn of the keeper. The timer is the keeper's alone; who stands in needs none, for the keeper is free when another
// runs the calls.
func (w *Worker) relieved() int {
	n, due := w.turn()
	if due {
		n += w.runAll(true)
	}
	return n
}

// standIn sleeps and makes progress in place of somebody whose callbacks take their time, until they are done.
func (w *Worker) standIn() {
	w.relief.StandIn(&w.mu, func() bool { return w.running.Load() && !w.closed }, func() {
		if w.sleep() {
			if _, due := w.turn(); due {
				w.runCalls()
			}
		}
	})
}
