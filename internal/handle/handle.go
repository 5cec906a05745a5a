package handle

import (
	"context"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// Handle is one operation in a user's hands: a value, to be copied freely. The zero value has ended well. It has four words, which stay in registers:
// a fifth has each post copy it through memory, for ten nanoseconds and more.
type Handle struct {
	d   *Desk
	r   *request.Request // nil: ended when it was posted
	n   uint64           // r's generation; else the bytes of what ended well
	end *request.End     // without r: how; nil, well and of nothing that has a way
}

// err is why it was not posted.
func (h Handle) err() error {
	if h.end == nil {
		return nil
	}
	return h.end.Err
}

// Flushed wraps what the post of a flush returned: with nothing to wait for it has ended. Under the lock.
func (d *Desk) Flushed(r *request.Request, err error) Handle {
	if r == nil && err == nil {
		return Handle{d: d}
	}
	return d.Of(r, err)
}

// Of wraps what the post of an operation returned. Under the lock.
func (d *Desk) Of(r *request.Request, err error) Handle {
	switch {
	case r != nil:
		return Handle{d: d, r: r, n: uint64(r.Gen())}
	case err != nil:
		return Handle{d: d, end: &request.End{Err: d.shown(err)}}
	}
	return Handle{d: d, n: d.Last.Bytes, end: d.Last.End}
}

// Refused is a handle of what was never posted.
func (d *Desk) Refused(op string, err error) Handle {
	return Handle{d: d, end: &request.End{Err: d.refusal(op, "", err)}}
}

func (h Handle) stale() bool { return uint64(h.r.Gen()) != h.n || !h.r.Held }

// taken is stale, or somebody else waits and will give it back.
func (h Handle) taken() bool { return h.stale() || h.r.Waited }

// Wait waits for the user's end, and gives the request back.
func (h Handle) Wait(ctx context.Context) (Result, error) {
	if h.r == nil {
		return Result{}, h.err()
	}
	if err := h.claim(); err != nil {
		return Result{}, err
	}
	return h.d.Await(ctx, h.r)
}

// claim has the caller be the one who gives the request back, or says why he can't.
func (h Handle) claim() error {
	if err := h.d.MayWait("wait", ""); err != nil {
		return err
	}
	h.d.Lock()
	taken := h.taken()
	if !taken {
		h.r.Waited = true
	}
	h.d.UnlockOnly()
	if taken {
		return h.d.refusal("wait", "", outcome.ErrRequest)
	}
	return nil
}

// Test says whether the user's end is reached, and how. It makes no progress and does not give the request back.
func (h Handle) Test() (done bool, res Result, err error) {
	if h.r == nil {
		return true, Result{}, h.err()
	}
	h.d.Lock()
	defer h.d.UnlockOnly()
	switch {
	case h.stale():
		return true, Result{}, h.d.refusal("test", "", outcome.ErrRequest)
	case !h.r.Reported:
		return false, Result{}, nil
	}
	return true, resultOf(h.r), h.d.shown(h.r.Err)
}

// Then has fn called with the error at the end of the turn in which the operation ends, and gives the request back. If it has ended already, fn is
// called with the next callbacks, not from inside Then; so it is with ErrRequest, if the request was given back or somebody waits for it.
func (h Handle) Then(fn func(error)) { h.then(fn, fn, false) }

// ThenResult is Then with what the operation brought.
func (h Handle) ThenResult(fn func(Result, error)) {
	h.then(func(err error) {
		h.d.Lock()
		res, _ := h.d.take(h.r)
		h.d.UnlockOnly()
		fn(res, err)
	}, func(err error) { fn(Result{}, err) }, true)
}

// then has fn called when the request has ended, or none, where there is nothing that could end: the operation ended when it was posted, or the
// request is another one's. keep: fn gives the request back.
func (h Handle) then(fn, none func(error), keep bool) {
	if h.d == nil {
		none(h.err())
		return
	}
	h.d.Lock()
	switch {
	case h.r == nil:
		h.d.Engine.Calls().Done(none, h.err())
	case h.taken():
		h.d.Engine.Calls().Done(none, h.d.refusal("then", "", outcome.ErrRequest))
	default:
		h.d.Engine.OnEnd(h.r, fn)
		if h.r.Waited = keep; !keep {
			h.d.Engine.Release(h.r)
		}
	}
	h.d.Unlock()
	h.d.CallsAfterClose()
}

// Cancel asks for the operation to end unexecuted.
func (h Handle) Cancel() {
	if h.r == nil {
		return
	}
	h.d.Lock()
	defer h.d.Unlock()
	if !h.stale() {
		h.d.Engine.Cancel(h.r)
	}
}

// Release lets go of the request before its end: nobody will ask for it.
func (h Handle) Release() {
	if h.r == nil {
		return
	}
	h.d.Lock()
	defer h.d.Unlock()
	if !h.taken() {
		h.d.Engine.Release(h.r)
	}
}
