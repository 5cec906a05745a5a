package crowd

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/openbraid/braid"
)

// two are two nodes, each with a worker; the second one listens.
type two struct {
	nodes [2]*braid.Node
	w     [2]*braid.Worker
	ln    *braid.Listener
}

func open(dialer, listener braid.Options) (*two, error) {
	p := &two{}
	var err error
	for i, o := range []braid.Options{dialer, listener} {
		o.Lanes, o.Transports = 1, braid.Default()[:1]
		if p.nodes[i], err = braid.Open(o); err == nil {
			p.w[i], err = p.nodes[i].NewWorker()
		}
		if err != nil {
			p.close()
			return nil, err
		}
	}
	if p.ln, err = p.w[1].Listen("127.0.0.1:0"); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *two) close() {
	for _, n := range p.nodes {
		if n != nil {
			n.Close()
		}
	}
}

// Held is what a process has.
type Held struct {
	Heap                    int64 // bytes that are in use
	Resident                int64 // bytes, by the system's count
	Descriptors, Goroutines int
}

func held() (h Held, err error) {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return h, err
	}
	var pages, resident int64
	b, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(b), &pages, &resident)
	}
	return Held{int64(m.HeapAlloc), resident * int64(os.Getpagesize()), len(all), runtime.NumGoroutine()}, err
}

// Cycles has n endpoints come, say something and go, one after the other, and says what both sides have more than before.
func Cycles(ctx context.Context, n int) (more Held, each time.Duration, err error) {
	p, err := open(braid.Options{}, braid.Options{})
	if err != nil {
		return more, 0, err
	}
	defer p.close()
	p.w[1].HandleAM(1, func(*braid.Message) {})
	if err := p.cycles(ctx, 200); err != nil { // what is there once
		return more, 0, err
	}
	before, err := held()
	if err != nil {
		return more, 0, err
	}
	begun := time.Now()
	if err := p.cycles(ctx, n); err != nil {
		return more, 0, err
	}
	each = time.Since(begun) / time.Duration(n)
	time.Sleep(100 * time.Millisecond) // the last connection is closed by then
	after, err := held()
	return Held{after.Heap - before.Heap, after.Resident - before.Resident, after.Descriptors - before.Descriptors, after.Goroutines - before.Goroutines}, each, err
}

func (p *two) cycles(ctx context.Context, n int) error {
	for i := range n {
		ep, err := p.w[0].Dial(ctx, p.ln.Addr())
		if err != nil {
			return fmt.Errorf("endpoint %d: %w", i, err)
		}
		back, err := p.ln.Accept(ctx)
		if err == nil {
			err = ep.SendAM(ctx, 1, nil, []byte("here I am"))
		}
		if err == nil {
			err = ep.Close(ctx)
		}
		if err != nil {
			return fmt.Errorf("endpoint %d: %w", i, err)
		}
		back.Abort()
	}
	return nil
}

// Turns has an owned worker make turns while it has so many endpoints, of which some are closed and dialed anew all the time. It says how long the turns took that did something.
func Turns(ctx context.Context, endpoints, cycles int) (p50, p99, most time.Duration, err error) {
	const dialers = 8
	p, err := open(braid.Options{}, braid.Options{Owned: true})
	if err != nil {
		return 0, 0, 0, err
	}
	defer p.close()
	addr, over := p.ln.Addr(), make(chan error, dialers)
	var all sync.WaitGroup
	ready := make(chan struct{})
	all.Add(dialers)
	go func() { all.Wait(); close(ready) }()
	for range dialers {
		go func() { over <- p.churn(ctx, addr, endpoints/dialers, cycles/dialers, &all) }()
	}
	var took []time.Duration
	full := false
	for left := dialers; left > 0; {
		since := time.Now()
		if n := p.w[1].Progress(); n > 0 && full {
			took = append(took, time.Since(since))
		}
		select {
		case <-ready:
			full, ready = true, nil
		case err := <-over:
			if left--; err != nil {
				return 0, 0, 0, err
			}
		default:
		}
	}
	if len(took) == 0 {
		return 0, 0, 0, fmt.Errorf("no turn did anything")
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], took[len(took)-1], nil
}

// churn keeps n endpoints, and closes the oldest and dials a new one so many times. filled is told when the n are there.
func (p *two) churn(ctx context.Context, addr string, n, cycles int, filled *sync.WaitGroup) error {
	var eps []*braid.Endpoint
	for len(eps) < n {
		ep, err := p.w[0].Dial(ctx, addr)
		if err != nil {
			filled.Done()
			return err
		}
		eps = append(eps, ep)
	}
	filled.Done()
	filled.Wait()
	for range cycles {
		if err := eps[0].Close(ctx); err != nil {
			return err
		}
		ep, err := p.w[0].Dial(ctx, addr)
		if err != nil {
			return err
		}
		eps = append(eps[1:], ep)
	}
	return nil
}
