package braid

import (
	"context"

	"github.com/openbraid/braid/internal/rail"
	"github.com/openbraid/braid/internal/worker"
)

// Listener takes the endpoints of peers that dial.
//
// Source: ucp_listener_h.
type Listener struct {
	w *Worker
	l *worker.Listener

	addr string // for people
}

// Listen binds addr ("host:port"; port 0 picks one), and the rails that Options.Rails names besides. Without a host it is the
// loopback address: to be reached from elsewhere must be asked for, "0.0.0.0:7777" or "[::]:7777". Who listens so is reached on all rails, and tells
// peers of those that are of use, also when they change. A Secret among the options counts instead of that of Options.
//
// Errors: *OpError: ErrRails: addr is of an interface that the rails leave out, or none of them can be used; the system's.
// Source: ucp_listener_create.
func (w *Worker) Listen(addr string, options ...ListenOption) (*Listener, error) {
	addrs, err := rail.Resolve(context.Background(), addr)
	if err != nil {
		return nil, opError("listen", addr, err)
	}
	o := worker.ListenOptions{Secret: w.n.opts.Secret.s}
	for _, option := range options {
		option.listen(&o)
	}
	w.lock()
	defer w.unlock()
	l, err := w.eng.Listen(addrs[0], o)
	if err != nil {
		return nil, public(err)
	}
	return &Listener{w, l, l.Addrs()[0]}, nil
}

// Worker is the worker that the listener belongs to: where handlers for its peers are set.
func (l *Listener) Worker() *Worker { return l.w }

// Addr is the address that is bound, to be dialed.
func (l *Listener) Addr() string { return l.Addrs()[0] }

// Addrs are all addresses that are bound: the one asked for first, then those of the rails.
func (l *Listener) Addrs() []string {
	l.w.lock()
	defer l.w.unlockOnly()
	return l.l.Addrs()
}

// Accept waits for a peer that dials. Further lanes of the endpoint may come up later.
//
// A program that only answers messages need not accept: handlers run for peers that wait, too. 1024 may wait, more are
// refused; who is gone before it is accepted is left out. Who goes just then, or gives its Dial up, is not: nobody holds the other side then, and the endpoint is over, or will be once that is known.
//
// Owns:   the endpoint is kept until Close or Abort, also when it is over, which Options.OnEvent (Failed), Endpoint.OnEnd and Endpoint.Err tell.
// Errors: *OpError: ErrClosed, the context's.
func (l *Listener) Accept(ctx context.Context) (*Endpoint, error) {
	if err := l.w.desk.MayWait("accept", ""); err != nil {
		return nil, err
	}
	l.w.lock()
	e, r, err := l.l.Accept()
	l.w.unlock()
	if err != nil {
		return nil, public(err)
	}
	if r != nil {
		res, err := l.w.desk.Await(ctx, r)
		if err != nil {
			return nil, err
		}
		e = res.Any.(*worker.Endpoint)
	}
	return endpoint(e), nil
}

// Close ends listening. Endpoints that were accepted go on, those that wait to be are aborted.
func (l *Listener) Close() error {
	l.w.lock()
	defer l.w.unlock()
	return l.l.Close()
}
