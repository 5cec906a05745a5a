package braid

import (
	"context"

	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
)

// Flush waits until everything posted on the endpoint before is executed at the peer, wherever it moved meanwhile.
//
// Order:  none for what is posted later; that is what Fence is for.
// Errors: *OpError: the first refusal (ErrAccess, ErrHandler) that no Flush of all it may be of has told its user yet; ErrPeerFailed and
// the like, with the number of operations that no flush has covered; the context's.
// Fate:   of the operations before it. Unknown: any that no flush has covered may be executed, or yet be; with a refusal, a part of what was refused.
// Not executed: what was refused isn't, and all else is; with any other error (ErrClosed, ErrInCallback) nothing is said of them: the flush was not begun.
// Source: ucp_ep_flush_nbx.
func (ep *Endpoint) Flush(ctx context.Context) error { return ep.FlushWith(ctx, FlushOptions{}) }

// PostFlush is Flush without waiting.
func (ep *Endpoint) PostFlush() Request { return ep.PostFlushWith(FlushOptions{}) }

// FlushOptions narrow a flush. The zero value is Flush: everything, executed.
type FlushOptions struct {
	// Sent: wait for the first end only: the buffers of everything posted before are free, executed or not.
	// Lanes and Memory do not narrow that; Memory does narrow what Cancel cancels.
	Sent bool
	// Cancel: what waits here (for a lane, for another one, for room, for a fence) ends with ErrCanceled, not executed; not what receives read, and streams
	// send. What is on lanes ends as it would have, and is waited for.
	Cancel bool
	// Lanes, by their Instance: only what is on these now, wherever it is executed in the end. Nil: all lanes; none: nothing.
	// If one of them is lost already, everything. With Memory they do not narrow anything. A name that no lane of the endpoint has, or had, is an error: ErrNoLane.
	Lanes []string
	// Memory: only what reads, writes or changes this memory, on whatever lane; with Cancel, only that is canceled. It may wait for others that were
	// on the same lanes before, since a lane's operations are acknowledged in order; not for other lanes. Of another process: ErrAccess.
	Memory RKey
}

// engine is the same in the engine's terms.
func (o FlushOptions) engine() outbox.Flushing {
	return outbox.Flushing{Sent: o.Sent, Cancel: o.Cancel, Lanes: o.Lanes, Key: o.Memory.k}
}

// FlushWith waits for a part of what was posted before, or for its first end only.
//
// Errors: as Flush, but only a Flush of everything covers operations, and tells a refusal again that one of a part has told. ErrNoLane, ErrAccess: as above; nothing is canceled then.
// Source: ucp_ep_flush_nbx; UCT_FLUSH_FLAG_LOCAL, UCT_FLUSH_FLAG_CANCEL, ucp_request_param_t.memh.
func (ep *Endpoint) FlushWith(ctx context.Context, o FlushOptions) error {
	f := o.engine()
	return ep.do(ctx, func() (*request.Request, error) { return ep.e.PostFlush(f) })
}

// PostFlushWith is FlushWith without waiting.
func (ep *Endpoint) PostFlushWith(o FlushOptions) Request {
	ep.w.lock()
	defer ep.w.unlock()
	return Request{ep.w.desk.Flushed(ep.e.PostFlush(o.engine()))}
}

// Flush waits until everything posted on any endpoint of the worker before is executed. An endpoint that is stuck keeps no other from
// being flushed.
//
// Errors: as Endpoint.Flush, of each endpoint that has one; also of one that has failed and is not closed.
// Source: ucp_worker_flush_nbx.
func (w *Worker) Flush(ctx context.Context) error {
	return w.PostFlush().Wait(ctx)
}

// PostFlush is Flush without waiting.
func (w *Worker) PostFlush() Request {
	w.lock()
	defer w.unlock()
	return Request{w.desk.Flushed(w.eng.PostFlush(outbox.Flushing{}))}
}
