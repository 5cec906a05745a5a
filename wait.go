package braid

import (
	"context"

	"github.com/openbraid/braid/internal/request"
)

// Progress does what can be done now, and returns how much that was. For Owned workers; a Shared worker needs
// it only where polling is wanted. Who calls it in a loop need not let others have the processor: it does so by itself, now and then if
// nobody wants it, soon if a peer on the same processor does.
//
// Source: ucp_worker_progress.
func (w *Worker) Progress() int { return w.crank.Progress() }

func (w *Worker) lock()       { w.crank.Lock() }
func (w *Worker) unlock()     { w.crank.Unlock() }
func (w *Worker) unlockOnly() { w.crank.UnlockOnly() }

// mayWait says whether a call may block here: refused before anything is posted, since an error afterwards would have it done twice.
func (w *Worker) mayWait(op, peer string) error {
	if w.crank.Inside() {
		return &OpError{Op: op, Peer: peer, Fate: NotExecuted, Err: ErrInCallback}
	}
	return nil
}

// wait makes progress until r's end for the user, or until the context is over. It gives r back.
func (w *Worker) wait(ctx context.Context, r *request.Request) (result, error) {
	if done, err := w.crank.Wait(ctx, r); !done {
		return result{}, public(err)
	}
	w.lock()
	defer w.unlock()
	return w.take(r)
}

// result is what a request brought.
type result struct {
	any any
	old uint64 // of a fetch

	tag, size uint64 // of a receive
}

func resultOf(r *request.Request) result { return result{r.Result, r.Old(), r.Tag, r.Size} }

func (w *Worker) take(r *request.Request) (result, error) {
	res, err := resultOf(r), public(r.Err)
	w.eng.Release(r)
	return res, err
}
