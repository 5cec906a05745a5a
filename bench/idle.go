package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/bench/duel"
)

// idlers is one worker with many endpoints to another, all in this process and idle.
type idlers struct {
	nodes [2]*braid.Node
	w     *braid.Worker // the dialing one, Owned
	eps   []*braid.Endpoint
	ln    *braid.Listener
}

func newIdlers() (*idlers, error) {
	c := &idlers{}
	for i := range c.nodes {
		n, err := braid.Open(braid.Options{Owned: i == 0, Lanes: 1})
		if err != nil {
			c.close()
			return nil, err
		}
		c.nodes[i] = n
	}
	w, err := c.nodes[1].NewWorker()
	if err == nil {
		c.ln, err = w.Listen("127.0.0.1:0")
	}
	if err == nil {
		c.w, err = c.nodes[0].NewWorker()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// grow dials until there are n endpoints.
func (c *idlers) grow(ctx context.Context, n int) error {
	accepted := make(chan error, 1)
	go func(k int) {
		for range k {
			if _, err := c.ln.Accept(ctx); err != nil {
				accepted <- err
				return
			}
		}
		accepted <- nil
	}(n - len(c.eps))
	for len(c.eps) < n {
		ep, err := c.w.Dial(ctx, c.ln.Addr())
		if err != nil {
			return fmt.Errorf("endpoint %d: %w", len(c.eps), err)
		}
		c.eps = append(c.eps, ep)
	}
	return <-accepted
}

func (c *idlers) close() {
	for _, n := range c.nodes {
		if n != nil {
			n.Close()
		}
	}
}

// turnSizes are the crowds whose turn is timed.
var turnSizes = []int{1, 10, 100, 1000}

const (
	memoryEndpoints = 500
	turnsPerSample  = 2000
)

// idle measures what endpoints cost that do nothing.
func (b *bench) idle(ctx context.Context) ([]duel.Row, error) {
	var rows []duel.Row
	if b.wants("idle/memory") {
		c, err := newIdlers()
		if err != nil {
			return nil, err
		}
		defer c.close()
		if err := c.grow(ctx, 1); err != nil { // what is there once
			return nil, err
		}
		before := heap()
		if err := c.grow(ctx, 1+memoryEndpoints); err != nil {
			return nil, err
		}
		// Each connection has an endpoint at both ends, and both are in this process.
		rows = append(rows, duel.Row{Name: "idle/memory", Unit: "bytes/endpoint", Ours: float64(heap()-before) / (2 * memoryEndpoints)})
		c.close()
	}
	c, err := newIdlers()
	if err != nil {
		return nil, err
	}
	defer c.close()
	for _, n := range turnSizes {
		name := fmt.Sprintf("turn/%d", n)
		if !b.wants(name) {
			continue
		}
		if err := c.grow(ctx, n); err != nil {
			return rows, err
		}
		rows = append(rows, duel.Row{Name: name, Unit: "ns/turn", Ours: c.turn()})
	}
	return rows, nil
}

// heap is the live memory of this process.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers let go
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// turn is the time of one call of Progress that finds nothing: the best of some samples, since only work of others
// makes it longer.
func (c *idlers) turn() float64 {
	best := time.Duration(1 << 62)
	for range 20 {
		begun := time.Now()
		for range turnsPerSample {
			c.w.Progress()
		}
		best = min(best, time.Since(begun))
	}
	return float64(best) / turnsPerSample
}
