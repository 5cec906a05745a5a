package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Several threads measure side by side: each has a node, a worker and an endpoint of its own, towards a server's thread of its own. They begin to
// count together.
//
//	client thread 0 ──> server thread 0, on port p        gate: all are warmed up, and begin
//	client thread 1 ──> server thread 1, on port p+1      Merge: from the first beginning to the last end

// MostThreads is how many there may be.
const MostThreads = 64

// errOther: one of the threads could not begin.
var errOther = errors.New("another thread could not begin")

// gate is where threads wait for each other.
type gate struct {
	missing atomic.Int32
	broken  atomic.Bool
}

// pass waits until all are here. A nil gate is open.
func (g *gate) pass(c *client) error {
	if g == nil {
		return nil
	}
	g.missing.Add(-1)
	for i := 1; g.missing.Load() > 0; i++ {
		if g.broken.Load() {
			return errOther
		}
		c.w.Progress()
		if i%lookEvery == 0 {
			if err := c.alive(c.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// RunThreads measures with a thread for each address of a server's threads, each with Iterations operations. more says how many of them, from the
// first on, have another test after this one. Nobody is told while it runs.
//
// Errors: those of Run, of each thread that has one; what the others measured is not told then.
func RunThreads(ctx context.Context, addrs []string, p Params, more int) (Result, error) {
	switch n := len(addrs); {
	case n == 1:
		p.More = more > 0
		return Run(ctx, addrs[0], p, nil)
	case n < 1 || n > MostThreads:
		return Result{}, fmt.Errorf("-T %d: 1 to %d threads", n, MostThreads)
	case p.Faults != nil:
		return Result{}, errors.New("-T with --fault: what is broken is judged by one thread")
	case p.CPUs != "":
		return Result{}, errors.New("-T with -c or --cpus: one processor is no place for several threads")
	}
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.gate = new(gate)
	p.gate.missing.Store(int32(len(addrs)))
	runs, errs := make([]measured, len(addrs)), make([]error, len(addrs))
	var all sync.WaitGroup
	for i, addr := range addrs {
		q := p
		q.More = i < more
		all.Go(func() {
			_, errs[i] = q.bound(func() (Result, error) {
				var err error
				runs[i], err = run(ctx, addr, q, nil)
				return Result{}, err
			})
			if errs[i] != nil {
				errs[i] = fmt.Errorf("thread %d: %w", i, errs[i])
				q.gate.broken.Store(true)
				cancel() // the others would wait, or measure what nobody asks for
			}
		})
	}
	all.Wait()
	return together(&p, runs, errs)
}

// together is what all threads come to.
func together(p *Params, runs []measured, errs []error) (Result, error) {
	var real []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, errOther) && !errors.Is(err, context.Canceled) {
			real = append(real, err)
		}
	}
	if err := errors.Join(real...); err != nil {
		return Result{}, err
	}
	if err := errors.Join(errs...); err != nil { // nobody's own: it was interrupted
		return Result{}, err
	}
	m := newMeter(p, nil)
	var t Tally
	for i := range runs {
		m.Merge(runs[i].meter)
		t.Add(runs[i].tally)
	}
	r := runs[0].result
	r.Threads = len(runs)
	r.take(p, m, t)
	return r, nil
}

// serveThreads serves with several threads, each on a port of its own: the one after, or whichever is free.
func serveThreads(ctx context.Context, p ServerParams) error {
	host, port, err := net.SplitHostPort(p.Listen)
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("-p %s: with -T it has to be a number, since the other threads have the ones after it", port)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	errs := make([]error, p.Threads)
	addrs := make([]string, p.Threads)
	var all, listening sync.WaitGroup
	var once sync.Once
	listening.Add(p.Threads)
	for i := range p.Threads {
		q := p
		if q.Threads = 1; first > 0 {
			q.Listen = net.JoinHostPort(host, strconv.Itoa(first+i))
		}
		heard := sync.OnceFunc(listening.Done)
		q.Listening = func(a string) { addrs[i] = a; heard() }
		q.Log = func(format string, args ...any) { p.Log("thread %d: "+format, append([]any{i}, args...)...) }
		all.Go(func() {
			defer heard()
			if errs[i] = Serve(ctx, q); errs[i] != nil {
				once.Do(func() { cancel(errs[i]) })
			}
		})
	}
	listening.Wait()
	if ctx.Err() == nil && p.Listening != nil {
		for _, a := range addrs {
			p.Listening(a)
		}
	}
	all.Wait()
	return errors.Join(errs...)
}
