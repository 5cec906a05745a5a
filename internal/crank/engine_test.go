package crank

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
)

// patience is longer than anything takes here, on any machine.
const patience = 20 * time.Second

// toy is an engine whose turns do what a test says. What isn't atomic is the crank's: under its lock, or its owner's.
type toy struct {
	t      *testing.T
	queue  delivery.Queue
	above  delivery.Queue
	turn   func() int // what a turn does; nil: nothing
	due    time.Duration
	posts  int
	read   *os.File // readable: something arrived
	write  *os.File
	inside atomic.Int32
	turns  atomic.Int64
	flush  atomic.Int64
	watch  atomic.Bool
	gone   error // why Abandon was called
	closed atomic.Bool
}

// enter notes who is inside: one at a time.
func (e *toy) enter() func() {
	if e.inside.Add(1) > 1 {
		e.t.Error("two are inside the engine")
	}
	return func() { e.inside.Add(-1) }
}

func (e *toy) Turn() (n int) {
	defer e.enter()()
	e.turns.Add(1)
	if e.closed.Load() {
		e.t.Error("a turn of a closed engine")
	}
	if e.turn != nil {
		n = e.turn()
	}
	return n
}

func (e *toy) Flush()                  { defer e.enter()(); e.flush.Add(1) }
func (e *toy) Watch(on bool)           { defer e.enter()(); e.watch.Store(on) }
func (e *toy) Deadline() time.Duration { defer e.enter()(); return e.due }
func (e *toy) Calls() *delivery.Queue  { return &e.queue }
func (e *toy) Above() *delivery.Queue  { return &e.above }
func (e *toy) EventFDs() []int         { return []int{int(e.read.Fd())} }

func (e *toy) Close() error {
	defer e.enter()()
	if e.closed.Swap(true) {
		e.t.Error("the engine is closed twice")
	}
	return nil
}

func (e *toy) Abandon(r *request.Request, cause error) error {
	defer e.enter()()
	e.gone = cause
	return cause
}

// arrive makes the descriptor readable, taken quiet.
func (e *toy) arrive() { e.write.Write([]byte{1}) }

func (e *toy) taken() { e.read.Read(make([]byte, 1)) }

var start = time.Now()

func clock() time.Duration { return max(1, time.Since(start)) }

// newCrank is that of a toy.
func newCrank(t *testing.T, owned bool, policy sleep.Policy) (*Crank, *toy) {
	t.Helper()
	e := &toy{t: t}
	var err error
	if e.read, e.write, err = os.Pipe(); err != nil {
		t.Fatal(err)
	}
	c := &Crank{Owned: owned, Hear: func() {}, Now: clock}
	if err := c.Open(e, policy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		select { // 4. nobody is left
		case <-c.keeper.Done:
		case <-time.After(patience):
			t.Error("the keeper has not ended")
		}
		e.read.Close()
		e.write.Close()
	})
	return c, e
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("not within ", patience, ": ", what)
		}
	}
}

// rests waits until the keeper sleeps for ever.
func rests(t *testing.T, c *Crank) {
	t.Helper()
	eventually(t, "the keeper sleeps", func() bool { return c.keeper.WakeAt.Load() < 0 })
}

// posted is a request that somebody waits for.
type posted struct {
	pool request.Pool
	r    *request.Request
}

func newPosted() *posted {
	p := &posted{}
	p.r = p.pool.Get(request.Flush, nil)
	return p
}

// waiting waits for a request in a goroutine; the channel gets what Wait returned.
func waiting(ctx context.Context, c *Crank, r *request.Request) <-chan error {
	over := make(chan error, 1)
	go func() {
		done, err := c.Wait(ctx, r)
		if done != (err == nil) {
			panic("done and an error, or neither")
		}
		over <- err
	}()
	return over
}

// within waits for a value.
func within[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatal("not within ", patience, ": ", what)
	}
	return v
}

// once is a call that may come once.
func once(t *testing.T) (call func(error), came <-chan struct{}) {
	c := make(chan struct{})
	var o sync.Once
	return func(error) {
		first := false
		o.Do(func() { first = true; close(c) })
		if !first {
			t.Error("called twice")
		}
	}, c
}
