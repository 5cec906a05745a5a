package worker

import (
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// Release lets go of a request whose user's end is reported: it may be used for another operation at once.
func (w *Worker) Release(r *request.Request) {
	r.Held = false
	w.pool.Put(r)
}

// Then has fn called when the user's end of r is reported, and lets go of it.
func (w *Worker) Then(r *request.Request, fn func(error)) {
	if r.Reported {
		w.calls = append(w.calls, Call{Done: fn, Err: r.Err})
	} else {
		r.OnSent = fn
	}
	w.Release(r)
}

// Cancel asks for a request to end unexecuted. One that waits ends at once; of one that is on a lane the
// acknowledgement or the exchange about the lane decides.
func (w *Worker) Cancel(r *request.Request) {
	if r.Reported {
		return
	}
	if r.Kind == request.Accept {
		for _, ln := range w.listeners {
			if ln.accepts.Remove(r) {
				r.Retired = true
				w.report(r, &Error{Op: "accept", Err: ErrCanceled})
			}
		}
		return
	}
	ep, ok := r.Owner.(*Endpoint)
	if !ok {
		return
	}
	r.Canceled = true
	switch r.Kind {
	case request.Flush:
		if ep.flushes.Remove(r) {
			r.Retired = true
			w.report(r, ep.opError("flush", Unknown, ErrCanceled))
		}
	case request.Dial:
		ep.Abort()
	case request.Put, request.AM:
		ep.cancelQueued(r)
	case request.Room:
		if ep.rooms.Remove(r) {
			r.Retired = true
			w.report(r, ep.opError("post", NotExecuted, ErrCanceled))
		}
	case request.None, request.Close, request.Accept:
	}
}

func (ep *Endpoint) cancelQueued(r *request.Request) {
	if r.Begun || !ep.pendOrdered.Remove(r) && !ep.pendAny.Remove(r) {
		return
	}
	r.Whole = true
	r.Err = ep.opError(r.Kind.String(), NotExecuted, ErrCanceled)
	ep.finish(r)
}

// Abandon lets the user go before the end: what is not on a lane ends unexecuted; of the rest the engine keeps copies,
// so that the user has his buffers back when this returns. cause says why; the error says what the target may do.
func (w *Worker) Abandon(r *request.Request, cause error) error {
	if r.Reported {
		err := r.Err
		w.Release(r)
		return err
	}
	w.Cancel(r)
	err := r.Err
	if !r.Reported {
		ep := r.Owner.(*Endpoint)
		err = ep.opError(r.Kind.String(), Unknown, cause)
		ep.keepCopies(r)
		if r.Kind == request.Close {
			ep.endClose(cause)
		}
		w.report(r, err)
	} else if e, ok := err.(*Error); ok {
		e.Err = cause // why it was canceled
	}
	w.Release(r)
	return err
}

// keepCopies makes the rest of an operation independent of the user's memory.
func (ep *Endpoint) keepCopies(r *request.Request) {
	if r.Kind != request.Put && r.Kind != request.AM {
		return
	}
	links := append(append([]*link(nil), ep.up...), ep.lost...)
	for _, l := range links {
		l.Tep.Detach(func(c transport.Completer) bool { return requestOf(c) == r })
	}
	for _, q := range []*replays{&ep.replayOrdered, &ep.replayAny} {
		for p := q.head; p != nil; p = p.next {
			if requestOf(p) == r && p.frame.ZeroCopy {
				p.frame.Payload, p.frame.ZeroCopy = append([]byte(nil), p.frame.Payload...), false
			}
		}
	}
	r.Borrowed = 0
	r.Copied = true
	r.Header = append([]byte(nil), r.Header...)
	r.Payload = append([]byte(nil), r.Payload...)
}
