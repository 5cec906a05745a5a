package braid

import (
	"context"

	"github.com/openbraid/braid/internal/request"
)

// Request is an operation that was posted. It is a small value: copy it freely. Wait or Release ends it; after that, all
// copies say ErrRequest.
//
// Source: the request that ucp_..._nbx calls return.
type Request struct {
	w   *Worker
	r   *request.Request // nil: ended at once
	gen uint32
	err error
}

// request wraps what a post returned. Under the lock.
func (w *Worker) request(r *request.Request, err error) Request {
	if r == nil {
		return Request{w: w, err: public(err)}
	}
	return Request{w: w, r: r, gen: r.Gen()}
}

func (q Request) stale() bool { return q.r.Gen() != q.gen || !q.r.Held }

// taken is stale, or somebody else waits and will give it back.
func (q Request) taken() bool { return q.stale() || q.r.Waited }

// Wait waits for the user's end: sent; of a Flush: executed. It gives the request back.
//
// Errors: the operation's; ErrRequest if it was given back before, or another goroutine waits for it; ErrInCallback, and then the
// request is still the caller's. If the context is over
// first, the buffers are the caller's again when Wait returns, and the error's Fate says what the peer may have done.
func (q Request) Wait(ctx context.Context) error {
	_, err := q.wait(ctx)
	return err
}

func (q Request) wait(ctx context.Context) (result, error) {
	if q.r == nil {
		return result{}, q.err
	}
	if err := q.w.mayWait("wait", ""); err != nil {
		return result{}, err
	}
	q.w.lock()
	taken := q.taken()
	if !taken {
		q.r.Waited = true
	}
	q.w.unlockOnly()
	if taken {
		return result{}, opError("wait", "", ErrRequest)
	}
	return q.w.wait(ctx, q.r)
}

// Test says whether the user's end is reached, and how. It makes no progress and does not give the request back.
func (q Request) Test() (done bool, err error) {
	if q.r == nil {
		return true, q.err
	}
	q.w.lock()
	defer q.w.unlockOnly()
	if q.stale() {
		return true, opError("test", "", ErrRequest)
	}
	return q.r.Reported, public(q.r.Err)
}

// Then has fn called with the operation's error at the end of the turn in which it ends, and gives the request back.
// If it has ended already, fn is called with the next callbacks, not from inside Then (unless the worker is closed). A request
// that was given back, or that somebody waits for, calls nobody.
func (q Request) Then(fn func(error)) { q.then(fn, false) }

// then is Then. keep: fn gives the request back.
func (q Request) then(fn func(error), keep bool) {
	if q.w == nil { // the zero Request
		fn(q.err)
		return
	}
	q.w.lock()
	switch {
	case q.r == nil:
		q.w.eng.Calls().Done(fn, q.err)
	case !q.taken():
		q.w.eng.OnEnd(q.r, fn)
		if q.r.Waited = keep; !keep {
			q.w.eng.Release(q.r)
		}
	}
	q.w.unlock()
	q.w.crank.CallsAfterClose()
}

// Cancel asks for the operation to end unexecuted: what still waits here ends at once with ErrCanceled, what is on a lane
// ends as it would have. Wait for the end all the same.
//
// Source: ucp_request_cancel.
func (q Request) Cancel() {
	if q.r == nil {
		return
	}
	q.w.lock()
	defer q.w.unlock()
	if !q.stale() {
		q.w.eng.Cancel(q.r)
	}
}

// Release lets go of the request before its end: nobody will ask for it. The buffers are still the library's until a
// Flush is done.
//
// Source: ucp_request_free.
func (q Request) Release() {
	if q.r == nil {
		return
	}
	q.w.lock()
	defer q.w.unlock()
	if !q.taken() {
		q.w.eng.Release(q.r)
	}
}
