package braid

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/openbraid/braid/internal/control"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/handle"
	"github.com/openbraid/braid/internal/rail"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/sleep"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
)

// Worker makes progress for its endpoints. Two ways to use it:
//
// Shared (the default): all calls are safe for many goroutines. Who waits makes progress in his own goroutine; when nobody
// does, one goroutine of the library sleeps until something arrives. Handlers and callbacks run without a
// lock, one at a time, and may block.
//
// Owned (Options.Owned): all calls come from one goroutine, which calls Progress; only Wake may come from others: go test -tags invariants finds who breaks that. There is no
// lock, and no goroutine of the library touches it: the node's only leaves a note, and wakes it, when this host's addresses change. Handlers must not block.
//
// docs/progress.md says how to wait.
//
// Source: ucp_worker_h.
type Worker struct {
	n     *Node
	eng   *worker.Worker
	desk  handle.Desk
	news  atomic.Pointer[[]topo.Rail] // a table of this host's rails that the engine has not seen
	asked control.Asked               // how things stand
	above family.Above
}

// NewWorker makes a worker, with handlers and endpoints of its own. It is the node's until either is closed; a node has as many as it likes.
//
// Errors: *OpError: ErrClosed; the system's, if there are no descriptors left.
// Source: ucp_worker_create.
func (n *Node) NewWorker() (*Worker, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, opError("worker", "", ErrClosed)
	}
	eng, err := worker.New(worker.Options{
		Config: n.cfg.Config, Transports: n.opts.Transports, Memory: n.mem, Incarnation: n.incarnation, Rails: n.view(),
		Env: transport.Env{Now: clock, Rand: secret.Random, Log: n.log}, Seed: [2]uint64{secret.Random(), secret.Random()},
	})
	if err != nil {
		return nil, fmt.Errorf("braid: %w", err)
	}
	w := &Worker{n: n, eng: eng}
	w.desk.Engine, w.desk.Shown, w.desk.Last = eng, public, &eng.Once
	eng.Shown = public
	eng.OnNew = func(e *worker.Endpoint) { e.User = &Endpoint{w: w, e: e} }
	if n.opts.OnEvent != nil {
		eng.Calls().OnEvent = w.tell
	}
	w.desk.Owned, w.desk.Hear, w.desk.Now = n.opts.Owned, w.hear, clock
	if err := w.desk.Open(eng, sleep.Policy(n.cfg.Wait)); err != nil {
		eng.Close()
		return nil, fmt.Errorf("braid: worker: %w", err)
	}
	n.workers = append(n.workers, w)
	n.control.Add(&control.Worker{Owned: n.opts.Owned, Mu: w.desk.Mutex(), Asked: &w.asked, Wake: w.Wake, Look: eng.Inspect})
	return w, nil
}

func (w *Worker) tell(event any) {
	e := event.(*delivery.Event)
	instance := ""
	if e.Instance != (wire.Instance{}) {
		instance = e.Instance.String()
	}
	var ep *Endpoint
	if e.Endpoint != nil {
		ep = endpoint(e.Endpoint.(*worker.Endpoint))
	}
	w.n.opts.OnEvent(Event{Kind: EventKind(e.Kind), At: start.Add(e.At), Endpoint: ep, Lane: e.Lane, Instance: instance, Dialed: e.Dialed,
		Err: e.Err, Fault: e.Fault, Posted: e.Posted, Acked: e.Acked, Accepted: e.Accepted, PeerAccepted: e.PeerAccepted, Replayed: e.Replayed})
}

// Close aborts the endpoints that are left and gives everything back. Close endpoints first to lose nothing. It waits for
// the handler or callback that runs; called from inside one it does not: then it returns at once, and the rest is done when that call is over.
//
// Source: ucp_worker_destroy.
func (w *Worker) Close() error {
	n := w.n
	n.mu.Lock()
	n.workers = slices.DeleteFunc(n.workers, func(o *Worker) bool { return o == w })
	n.mu.Unlock()
	n.control.Remove(&w.asked)
	defer w.above.End()
	return w.desk.Close()
}

// Workers are those that are not closed. As it stood when it was called.
func (n *Node) Workers() iter.Seq[*Worker] {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Values(slices.Clone(n.workers))
}

// HandleAM sets the handler of the active messages with the given id; nil takes it away. Set handlers before peers send.
//
// Order:  messages of one endpoint in the order in which they were posted; one handler at a time.
// Owns:   the message is valid until the handler returns, unless it is retained.
// Errors: panics if id is not below 65280: those are the library's own.
// Source: ucp_worker_set_am_recv_handler.
func (w *Worker) HandleAM(id uint16, fn func(*Message)) {
	w.lock()
	defer w.unlock()
	if fn == nil {
		w.eng.Handle(id, nil)
		return
	}
	w.eng.Handle(id, handler(fn))
}

// HandleOffer is HandleAM of messages that are offered, too (Endpoint.OfferAM): the handler is called when the header of a large one has come and its payload is still its sender's.
// Message.Size says how large it is, and the handler where it goes: into its own memory (Message.Recv, PostRecv) or piece by piece (Chunks); later, if it retains the
// message. What it neither receives nor retains is refused, and its sender told. Of a message that came whole, small or sent by SendAM, the payload is there.
//
// Source: ucp_worker_set_am_recv_handler, UCP_AM_RECV_ATTR_FLAG_RNDV.
func (w *Worker) HandleOffer(id uint16, fn func(*Message)) {
	if fn == nil {
		w.HandleAM(id, nil)
		return
	}
	w.lock()
	defer w.unlock()
	w.eng.HandleOffer(id, handler(fn))
}

// Dial connects to a listener at addr ("host:port"; without a host it is the loopback address). It returns when all
// lanes are up, or a second after the first one: the others may come up later. The context is for the dial only. A Secret among the options counts instead of that of Options.
//
// Errors: *OpError: ErrDial with a *LaneError for each way tried, or with ErrRails, ErrRefused, ErrVersion, ErrSecret, the context's.
// Source: ucp_ep_create with a socket address.
func (w *Worker) Dial(ctx context.Context, addr string, options ...DialOption) (*Endpoint, error) {
	if err := w.desk.MayWait("dial", addr); err != nil {
		return nil, err
	}
	addrs, err := rail.ResolvePeer(ctx, addr)
	if err != nil {
		return nil, opError("dial", addr, err)
	}
	return w.dial(ctx, addr, options, func(o worker.DialOptions) (*worker.Endpoint, *request.Request, error) { return w.eng.Dial(addrs, o) })
}

// dial waits for what begin begins.
func (w *Worker) dial(ctx context.Context, addr string, options []DialOption, begin func(worker.DialOptions) (*worker.Endpoint, *request.Request, error)) (*Endpoint, error) {
	o := worker.DialOptions{Mode: ErrorMode(w.n.cfg.ErrorMode).wire(), Secret: w.n.opts.Secret.s}
	for _, option := range options {
		option.dial(&o)
	}
	w.lock()
	e, r, err := begin(o)
	var ep *Endpoint
	if err == nil {
		ep = endpoint(e)
	}
	w.unlock()
	if err != nil {
		return nil, public(err)
	}
	if _, err := w.desk.Await(ctx, r); err != nil {
		return nil, err
	}
	return ep, nil
}

// endpoint is the public face of an engine's endpoint.
func endpoint(e *worker.Endpoint) *Endpoint { return e.User.(*Endpoint) }

// Endpoints are those that are not over, or not closed by this side: dialed, connected, accepted, or opened by peers that nobody has accepted. As it stood when it was called.
func (w *Worker) Endpoints() iter.Seq[*Endpoint] {
	w.lock()
	defer w.unlockOnly()
	var all []*Endpoint
	for _, e := range w.eng.Endpoints() {
		all = append(all, endpoint(e))
	}
	return slices.Values(all)
}

// Strangers counts the connections to the worker's listeners that never became lanes.
type Strangers struct {
	HalfOpen int    // have not said who they are, now
	Dropped  uint64 // said nothing, or too little, too late, or what isn't braid's; and all of the other two
	Crowded  uint64 // made room for others that came later: at most 64 are half open, and 8 from one other host
	Refused  uint64 // speak braid, and were told why they don't get in
}

// Strangers are the counters so far.
func (w *Worker) Strangers() Strangers {
	w.lock()
	defer w.unlockOnly()
	return Strangers(w.eng.Strangers())
}

// Node is the node that the worker belongs to.
func (w *Worker) Node() *Node { return w.n }
