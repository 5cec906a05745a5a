package braid

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
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
// Owned (Options.Owned): all calls come from one goroutine, which calls Progress. There is no lock and no
// goroutine of the library. Handlers must not block.
//
// Source: ucp_worker_h.
type Worker struct {
	n     *Node
	eng   *worker.Worker
	owned bool

	mu      sync.Mutex // of the engine; unused if owned
	closed  bool
	sleeper *sleep.Sleeper
	wakeAt  atomic.Int64 // when the sleeping goroutine wakes by itself; 0: it isn't asleep; -1: never
	pollers atomic.Int32 // goroutines that make progress while they wait
	idle    sync.Cond    // pollers became 0
	done    chan struct{}

	running atomic.Bool // somebody runs the calls
	calls   []delivery.Call
	relief  relief
}

// relief is for calls that take their time: whoever runs them makes no progress meanwhile, and others may wait for some.
type relief struct {
	role     sync.Mutex  // of who sleeps until something arrives
	after    *time.Timer // calls standIn
	standing bool        // somebody stands in; under the worker's lock
	running  sync.WaitGroup
}

// relieveAfter is how long calls may take before somebody stands in for who runs them.
const relieveAfter = 2 * time.Millisecond

// NewWorker adds a worker to the node.
//
// Source: ucp_worker_create.
func (n *Node) NewWorker() (*Worker, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, opError("worker", "", ErrClosed)
	}
	eng, err := worker.New(worker.Options{
		Config: n.opts.config(), Transports: n.opts.Transports, Memory: n.mem, Incarnation: n.incarnation, Rails: n.opts.Rails,
		Env: transport.Env{Now: clock, Rand: random, Log: n.log},
	})
	if err != nil {
		return nil, fmt.Errorf("braid: %w", err)
	}
	w := &Worker{n: n, eng: eng, owned: n.opts.Owned, done: make(chan struct{})}
	w.idle.L = &w.mu
	eng.OnNew = func(e *worker.Endpoint) { e.User = &Endpoint{w: w, e: e} }
	if n.opts.OnEvent != nil {
		eng.Calls().OnEvent = w.tell
	}
	if w.sleeper, err = sleep.New(eng.EventFDs()); err != nil {
		eng.Close()
		return nil, fmt.Errorf("braid: worker: %w", err)
	}
	if w.owned {
		close(w.done)
	} else {
		w.relief.after = time.AfterFunc(time.Hour, w.standIn)
		w.relief.after.Stop()
		go w.run()
	}
	n.workers = append(n.workers, w)
	return w, nil
}

// Worker is NewWorker without an error: it panics where NewWorker has one. Each call makes another worker, with handlers
// and endpoints of its own: keep what it returns.
func (n *Node) Worker() *Worker {
	w, err := n.NewWorker()
	if err != nil {
		panic(err)
	}
	return w
}

func (w *Worker) tell(event any) {
	e := event.(*worker.Event)
	instance := ""
	if e.Instance != (wire.Instance{}) {
		instance = e.Instance.String()
	}
	w.n.opts.OnEvent(Event{Kind: EventKind(e.Kind), At: start.Add(e.At), Endpoint: endpoint(e.Endpoint), Lane: e.Lane, Instance: instance, Dialed: e.Dialed,
		Err: e.Err, Posted: e.Posted, Accepted: e.Accepted, PeerAccepted: e.PeerAccepted, Replayed: e.Replayed})
}

func (w *Worker) lock() {
	if !w.owned {
		w.mu.Lock()
	}
}

// unlock also hands to the system what was posted, and wakes the sleeping goroutine if something is due before it
// would wake by itself: a time, or a callback. Under the lock, since Close takes the bell away.
func (w *Worker) unlock() {
	if w.owned {
		return
	}
	w.eng.Flush()
	if at := w.wakeAt.Load(); at != 0 && !w.closed {
		due := w.eng.Deadline()
		if w.callsDue() || due != 0 && (at < 0 || int64(due) < at) {
			w.sleeper.Wake()
		}
	}
	w.mu.Unlock()
}

// callsDue says that there are calls and nobody who runs them: whoever does looks again before he ends. Under the lock.
func (w *Worker) callsDue() bool { return w.eng.Calls().Len() > 0 && !w.running.Load() }

// Progress does what can be done now, and returns how much that was. For Owned workers; a Shared worker needs
// it only where polling is wanted.
//
// Source: ucp_worker_progress.
func (w *Worker) Progress() int {
	n := w.turn()
	switch {
	case w.owned:
		w.eng.Flush() // what the calls posted
	case n > 0:
		w.lock()
		w.unlock() // the turn may have made something due before the sleeping goroutine wakes
	}
	return n
}

func (w *Worker) turn() int {
	w.lock()
	n := 0
	if !w.closed {
		n = w.eng.Turn()
	}
	w.unlockOnly()
	return n + w.runCalls()
}

// runCalls runs the callbacks that are due, one at a time and in order. A callback that waits makes
// progress, but the calls which that brings are for this loop to run.
func (w *Worker) runCalls() (n int) {
	for w.running.CompareAndSwap(false, true) {
		k := w.runBatch()
		if k == 0 {
			break
		}
		n += k
	}
	return n
}

// finishEvery so many calls what they held is given back.
const finishEvery = 16

// runBatch runs the callbacks that are due now. One that panics, under somebody who recovers, takes nothing with it.
func (w *Worker) runBatch() (n int) {
	w.lock()
	w.calls = w.eng.Calls().Take(w.calls[:0])
	rest := w.calls
	if n = len(rest); n == 0 {
		w.running.Store(false) // before the lock is free: what comes after this look must find nobody running
		w.unlockOnly()
		return 0
	}
	w.unlockOnly()
	ran := 0
	if !w.owned {
		w.relief.after.Reset(relieveAfter)
	}
	defer func() {
		w.lock()
		w.eng.Calls().Finish(rest[:ran])
		w.eng.Calls().PutBack(rest[ran:])
		w.unlock()
		w.running.Store(false)
		if w.owned {
			return
		}
		w.relief.after.Stop()
		if ran < len(rest) {
			w.ring()
		}
	}()
	for ran < len(rest) {
		if ran == finishEvery {
			w.lock()
			w.eng.Calls().Finish(rest[:ran])
			w.unlock()
			rest, ran = rest[ran:], 0
		}
		ran++
		w.eng.Calls().Run(&rest[ran-1])
	}
	return n
}

// ring wakes the sleeping goroutine.
func (w *Worker) ring() {
	w.mu.Lock()
	if !w.closed {
		w.sleeper.Wake()
	}
	w.mu.Unlock()
}

// unlockOnly is unlock for calls that post nothing.
func (w *Worker) unlockOnly() {
	if !w.owned {
		w.mu.Unlock()
	}
}

// run is the goroutine of a Shared worker: it sleeps, and makes progress while nobody else does.
func (w *Worker) run() {
	defer close(w.done)
	for {
		w.mu.Lock()
		for w.pollers.Load() > 0 && !w.closed {
			w.idle.Wait()
		}
		w.mu.Unlock()
		if !w.sleep() {
			return
		}
		for i := 0; i < 64 && w.pollers.Load() == 0; i++ {
			if w.turn() == 0 {
				break
			}
		}
	}
}

// standIn sleeps and makes progress in place of somebody whose callbacks take their time, until they are done.
func (w *Worker) standIn() {
	w.mu.Lock()
	if w.closed || w.relief.standing {
		w.mu.Unlock()
		return
	}
	w.relief.standing = true
	w.relief.running.Add(1)
	defer w.relief.running.Done()
	for w.running.Load() && !w.closed {
		w.mu.Unlock()
		if w.sleep() {
			w.turn()
		}
		w.mu.Lock()
	}
	w.relief.standing = false
	w.mu.Unlock()
}

// sleep returns when something arrived or is due; false means that the worker is closed.
func (w *Worker) sleep() bool {
	w.relief.role.Lock()
	defer w.relief.role.Unlock()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return false
	}
	if w.callsDue() {
		w.mu.Unlock()
		return true
	}
	due := w.eng.Deadline()
	at, timeout := int64(-1), time.Duration(-1)
	if due != 0 {
		at, timeout = int64(due), max(0, due-clock())
	}
	w.wakeAt.Store(at)
	w.mu.Unlock()
	w.sleeper.Wait(timeout)
	w.wakeAt.Store(0)
	return true
}

// spins is how many idle turns somebody who waits makes before he sleeps.
const spins = 50

// wait makes progress until r's end for the user, or until the context is over. It gives r back.
func (w *Worker) wait(ctx context.Context, r *request.Request) (any, error) {
	if w.owned {
		return w.waitOwned(ctx, r)
	}
	w.mu.Lock()
	wake := r.Wake()
	w.mu.Unlock()
	w.poll(ctx, r)
	if !r.Ended() {
		select {
		case <-wake:
		case <-ctx.Done():
		}
	}
	w.lock()
	defer w.unlock()
	if !r.Ended() {
		return nil, public(w.eng.Abandon(r, ctx.Err()))
	}
	return w.take(r)
}

// poll makes progress until r's end, or nothing happens for a while.
func (w *Worker) poll(ctx context.Context, r *request.Request) {
	w.pollers.Add(1)
	defer func() { // also if a callback panics
		if w.pollers.Add(-1) == 0 {
			w.lock()
			w.idle.Signal()
			w.unlock() // the last turn may have made something due before the sleeping goroutine wakes
		}
	}()
	for idle := 0; idle < spins && !r.Ended() && ctx.Err() == nil; {
		if w.turn() > 0 {
			idle = 0
		} else {
			idle++
		}
	}
}

func (w *Worker) waitOwned(ctx context.Context, r *request.Request) (any, error) {
	for idle := 0; !r.Ended(); {
		if w.running.Load() {
			return nil, public(w.eng.Abandon(r, ErrInCallback))
		}
		if ctx.Err() != nil {
			return nil, public(w.eng.Abandon(r, ctx.Err()))
		}
		if w.Progress() > 0 {
			idle = 0
		} else if idle++; idle > spins {
			w.nap()
		}
	}
	return w.take(r)
}

// nap sleeps until something arrives or is due, not longer than a context may go unlooked at.
func (w *Worker) nap() {
	timeout := 10 * time.Millisecond
	if due := w.eng.Deadline(); due != 0 {
		timeout = min(timeout, max(0, due-clock()))
	}
	w.sleeper.Wait(timeout)
}

func (w *Worker) take(r *request.Request) (any, error) {
	res, err := r.Result, public(r.Err)
	w.eng.Release(r)
	return res, err
}

// Close aborts the endpoints that are left and gives everything back. Close endpoints first to lose nothing. It waits for
// the handler or callback that runs, so a Shared worker must not be closed from inside one.
//
// Source: ucp_worker_destroy.
func (w *Worker) Close() error {
	w.lock()
	if w.closed {
		w.unlockOnly()
		return nil
	}
	w.closed = true
	err := w.eng.Close()
	w.idle.Signal()
	w.unlockOnly()
	w.sleeper.Wake()
	w.runCalls()
	<-w.done
	if !w.owned {
		w.relief.after.Stop()
		w.relief.running.Wait()
	}
	w.sleeper.Close()
	return err
}

// HandleAM sets the handler of the active messages with the given id; nil takes it away. Set handlers before peers send.
//
// Order:  messages of one endpoint in the order in which they were posted; one handler at a time.
// Owns:   the message is valid until the handler returns, unless it is retained.
// Source: ucp_worker_set_am_recv_handler.
func (w *Worker) HandleAM(id uint16, fn func(*Message)) {
	w.lock()
	defer w.unlock()
	if fn == nil {
		w.eng.Handle(id, nil)
		return
	}
	w.eng.Handle(id, func(m *delivery.Message) {
		p, ok := m.User.(*Message)
		if !ok {
			p = &Message{}
			m.User = p
		}
		p.m = m
		fn(p)
	})
}

// Dial connects to a listener at addr ("host:port"; without a host it is the loopback address). It returns when all
// lanes are up, or 200 ms after the first one: the others may come up later. The context is for the dial only.
//
// Errors: *OpError: ErrDial with a reason for each address tried, ErrRefused, ErrVersion, the context's.
// Source: ucp_ep_create with a socket address.
func (w *Worker) Dial(ctx context.Context, addr string) (*Endpoint, error) {
	addrs, err := resolve(ctx, addr)
	if err != nil {
		return nil, opError("dial", addr, err)
	}
	w.lock()
	e, r, err := w.eng.Dial(addrs, worker.DialOptions{Mode: w.n.opts.ErrorMode.wire()})
	var ep *Endpoint
	if err == nil {
		ep = endpoint(e)
	}
	w.unlock()
	if err != nil {
		return nil, public(err)
	}
	if _, err := w.wait(ctx, r); err != nil {
		return nil, err
	}
	return ep, nil
}

// resolve turns a host name into addresses.
func resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w; write host:port", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{net.JoinHostPort(host, port)}, nil
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	for i := range ips {
		ips[i] = net.JoinHostPort(ips[i], port)
	}
	return ips, nil
}

// endpoint is the public face of an engine's endpoint.
func endpoint(e *worker.Endpoint) *Endpoint { return e.User.(*Endpoint) }

// Node is the node that the worker belongs to.
func (w *Worker) Node() *Node { return w.n }
