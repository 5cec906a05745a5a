package worker

import (
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/transport"
)

// owner is the endpoint of a request, nil if it has none.
func owner(r *request.Request) *Endpoint {
	if b, ok := r.Owner.(*outbox.Box); ok {
		return b.Host().(*Endpoint)
	}
	return nil
}

// Cancel asks for a request to end unexecuted. See outbox.Box.Cancel.
func (w *Worker) Cancel(r *request.Request) {
	if r.Reported {
		return
	}
	switch r.Kind {
	case request.Accept:
		for _, ln := range w.listeners {
			if ln.backlog.Cancel(r) {
				r.Retired = true
				w.Report(r, &outcome.Error{Op: "accept", Err: outcome.ErrCanceled})
			}
		}
	case request.Dial:
		owner(r).Abort()
	case request.Put, request.AM, request.Get, request.Atomic, request.Flush, request.Room, request.Receive:
		if ep := owner(r); ep != nil {
			ep.box.Cancel(r)
			return
		}
		if r.Kind == request.Receive { // and no message is matched with it
			w.tags.Cancel(r)
			return
		}
		w.Report(r, &outcome.Error{Op: "flush", Fate: outcome.Unknown, Err: outcome.ErrCanceled}) // its parts go on
	case request.None, request.Close:
	}
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
		ep := owner(r)
		err = ep.opError(r.Name(), outcome.Unknown, cause)
		ep.box.KeepCopies(r, ep.connections())
		for _, l := range ep.up {
			if l.landing.Reads(r) {
				l.unplace()
			}
		}
		if r.Kind == request.Close {
			ep.endClose(cause)
		}
		w.Report(r, err)
	} else if e, ok := err.(*outcome.Error); ok {
		e.Err = cause // why it was canceled
	}
	w.Release(r)
	return err
}

// connections are all on which frames of the endpoint may be.
func (ep *Endpoint) connections() (ts []transport.Endpoint) {
	for _, l := range ep.links() {
		ts = append(ts, l.Tep)
	}
	return ts
}
