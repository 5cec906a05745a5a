package braid

import (
	"context"

	"github.com/openbraid/braid/internal/handle"
	"github.com/openbraid/braid/internal/request"
)

// Request is an operation that was posted. It is a small value: copy it freely. Wait or Release ends it; after that, all
// copies say ErrRequest. One that had ended when it was posted has nothing to be given back, and goes on saying how.
//
// Source: the request that ucp_..._nbx calls return.
type Request struct{ h handle.Handle }

// request wraps what a post returned. Under the lock.
func (w *Worker) request(r *request.Request, err error) Request { return Request{w.desk.Of(r, err)} }

// Wait waits for the user's end: sent; of a Flush: executed. It gives the request back.
//
// Errors: the operation's; ErrRequest if it was given back before, or another goroutine waits for it; ErrInCallback, and then the
// request is still the caller's. If the context is over
// first, the buffers are the caller's again when Wait returns, and the error's Fate says what the peer may have done.
func (q Request) Wait(ctx context.Context) error {
	_, err := q.h.Wait(ctx)
	return err
}

// Test says whether the user's end is reached, and how. It makes no progress and does not give the request back.
func (q Request) Test() (done bool, err error) {
	done, _, err = q.h.Test()
	return done, err
}

// Then has fn called with the operation's error at the end of the turn in which it ends, and gives the request back.
// If it has ended already, fn is called with the next callbacks, not from inside Then (unless the worker is closed); so it is with ErrRequest, if the
// request was given back before or somebody waits for it.
func (q Request) Then(fn func(error)) { q.h.Then(fn) }

// Cancel asks for the operation to end unexecuted: what still waits here, or waits here again since its lane was lost, ends at once with ErrCanceled;
// what is on a lane ends as it would have. Wait for the end all the same.
//
// Source: ucp_request_cancel.
func (q Request) Cancel() { q.h.Cancel() }

// Release lets go of the request before its end: nobody will ask for it. The buffers are still the library's until a
// Flush is done.
//
// Source: ucp_request_free.
func (q Request) Release() { q.h.Release() }
