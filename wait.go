package braid

import (
	"context"
	"time"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
)

// Progress does what can be done now, and returns how much that was. For Owned workers; a Shared worker needs
// it only where polling is wanted. Who calls it in a loop need not let others have the processor: it does so by itself, now and then if
// nobody wants it, soon if a peer on the same processor does.
//
// Source: ucp_worker_progress.
func (w *Worker) Progress() int {
	n := w.progress()
	w.pace.Note(n)
	return n
}

// sleepless so many polls since he last meant to sleep, who owns a worker does not wait for its descriptors.
const sleepless = 256

func (w *Worker) progress() int {
	if w.owned && w.pace.Polls()-w.watched == sleepless {
		w.eng.Watch(false)
	}
	n, due := w.turn()
	if due {
		n += w.runCalls()
		if w.owned {
			w.eng.Flush() // what the calls posted
		}
	}
	return n
}

// turn is one turn of the engine. due says that there are calls to be run.
func (w *Worker) turn() (n int, due bool) {
	w.lock()
	if !w.closed {
		w.hear()
		n = w.eng.Turn()
	}
	due = w.eng.Calls().Len() > 0
	if n > 0 && w.keeper.Asleep() {
		w.unlock() // the turn may have made something due before the keeper wakes
	} else {
		w.unlockOnly()
	}
	return n, due
}

// busy polls since the keeper slept are reason enough for it to stay away.
const busy = 32

// unwatch: the keeper stays away, so nobody waits for the descriptors before it sleeps again.
func (w *Worker) unwatch() {
	w.mu.Lock()
	if !w.keeper.Asleep() { // else somebody stands in for it, and sleeps by now
		w.eng.Watch(false)
	}
	w.mu.Unlock()
}

// polled says that others make progress: some wait, or have called Progress often since there were so many polls. On a closed
// worker nobody does, however often he tries.
func (w *Worker) polled(before uint32) bool {
	if w.keeper.Pollers.Load() == 0 && w.pace.Polls()-before < busy {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed
}

// sleep returns when something arrived or is due; false means that the worker is closed.
func (w *Worker) sleep() bool {
	w.relief.Role.Lock()
	defer w.relief.Role.Unlock()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	if w.callsDue() {
		w.mu.Unlock()
		return true
	}
	w.eng.Watch(true)
	due := w.eng.Deadline()
	at, timeout := int64(-1), time.Duration(-1)
	if due != 0 {
		at, timeout = int64(due), max(0, due-clock())
	}
	w.keeper.WakeAt.Store(at)
	w.mu.Unlock()
	w.sleeper.Wait(timeout)
	w.keeper.WakeAt.Store(0)
	return true
}

// mayWait says whether a call may block here: refused before anything is posted, since an error afterwards would have it done twice.
func (w *Worker) mayWait(op, peer string) error {
	if w.owned && w.running.Load() {
		return &OpError{Op: op, Peer: peer, Fate: NotExecuted, Err: ErrInCallback}
	}
	return nil
}

// wait makes progress until r's end for the user, or until the context is over. It gives r back.
func (w *Worker) wait(ctx context.Context, r *request.Request) (result, error) {
	if w.owned {
		return w.waitOwned(ctx, r)
	}
	w.keeper.Poll(ctx, r)
	if !r.Ended() {
		w.mu.Lock()
		wake := r.Wake()
		ended := r.Reported
		w.unlock() // the last turn may have made something due before the keeper wakes
		w.keeper.Come()
		if !ended {
			select {
			case <-wake:
			case <-ctx.Done():
			}
		}
	}
	w.lock()
	defer w.unlock()
	if !r.Ended() {
		return result{}, public(w.eng.Abandon(r, ctx.Err()))
	}
	return w.take(r)
}

func (w *Worker) waitOwned(ctx context.Context, r *request.Request) (result, error) {
	var nap sleep.Nap
	defer nap.End()
	for idle := 0; !r.Ended(); {
		if ctx.Err() != nil {
			return result{}, public(w.eng.Abandon(r, ctx.Err()))
		}
		n := w.progress()
		if n > 0 {
			idle = 0
		} else {
			idle++
		}
		if w.pace.Waited(n, idle) {
			w.slumber(ctx, &nap)
		}
	}
	return w.take(r)
}

// watch has the descriptors of an Owned worker tell of what arrives: its owner means to sleep.
func (w *Worker) watch() {
	w.watched = w.pace.Polls()
	w.eng.Watch(true)
}

// slumber sleeps until something arrives or is due, or the context is over.
func (w *Worker) slumber(ctx context.Context, nap *sleep.Nap) {
	timeout := nap.Next(ctx, w.Wake)
	w.watch()
	if due := w.eng.Deadline(); due != 0 {
		if left := max(0, due-clock()); timeout < 0 || left < timeout {
			timeout = left
		}
	}
	w.sleeper.Wait(timeout)
}

// result is what a request brought.
type result struct {
	any any
	old uint64 // of a fetch
}

func (w *Worker) take(r *request.Request) (result, error) {
	res, err := result{r.Result, r.Old()}, public(r.Err)
	w.eng.Release(r)
	return res, err
}
