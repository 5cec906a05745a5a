package demo

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// plan says when which rail is cut, and how.
type plan struct {
	rail int
	kind fault.Kind
	at   float64 // progress of the run
	stay float64 // how long, as part of the run's time
}

var plans = []plan{
	{rail: 0, kind: fault.Reset, at: 0.25, stay: 0.1},
	{rail: 1, kind: fault.Silence, at: 0.6, stay: 0.15},
}

// look is how often the cutter looks.
const look = time.Millisecond

// waits are how long the cutter waits for what must happen.
type waits struct {
	worth  time.Duration // for a write of each size that is worth to be cut
	write  time.Duration // for any write, after that
	notice time.Duration // for the loss to be noticed
	back   time.Duration // for the hand-over, and for the lane to come back once it can
}

var patience = waits{worth: 200 * time.Millisecond, write: 3 * time.Second, notice: 5 * time.Second, back: 10 * time.Second}

// worthCutting are sizes of writes, best first: with whole blocks, with parts of a small file, with messages; else any.
var worthCutting = []int{48 << 10, 600, 150, 1}

// laneWatch is what the sender's events say about its lanes.
type laneWatch struct {
	mu    sync.Mutex
	up    [lanes]int // instances
	downs [lanes]int // lost so far
	over  [lanes]int // handed over so far
}

func (w *laneWatch) note(kind braid.EventKind, rail int) {
	if rail < 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch kind {
	case braid.LaneUp:
		w.up[rail]++
	case braid.LaneDown:
		w.up[rail]--
		w.downs[rail]++
	case braid.HandedOver:
		w.over[rail]++
	case braid.Suspended, braid.Resumed, braid.Failed, braid.TurnedAway, braid.LaneGivenUp:
	}
}

func (w *laneWatch) get(of *[lanes]int, rail int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return of[rail]
}

func (w *laneWatch) allUp() bool { return w.get(&w.up, 0) > 0 && w.get(&w.up, 1) > 0 }

// missing says on which rails there is no lane.
func (w *laneWatch) missing(names [lanes]string) error {
	var without []string
	for i, name := range names {
		if w.get(&w.up, i) == 0 {
			without = append(without, name)
		}
	}
	return fmt.Errorf("no lane came up from %s to itself: each rail must reach the receiver at its own address; loopback ones go with loopback ones only", strings.Join(without, " and "))
}

// cutter carries out the plans, one after the other, each only when all lanes stand.
type cutter struct {
	inj      *fault.Injector
	fence    *fence
	time     time.Duration
	watch    *laneWatch
	progress func() float64
	tell     func(line)
	waits    waits

	stamps []time.Duration
}

// run returns when each plan is carried out, its lane handed over and up again, or with what did not happen.
func (c *cutter) run(ctx context.Context) error {
	for i, p := range plans {
		for c.progress() < p.at {
			if err := pause(ctx, look); err != nil {
				return err
			}
		}
		if err := c.until(ctx, c.waits.back, c.watch.allUp); err != nil {
			return fmt.Errorf("before the cut of %s: not all lanes are up: %w", c.fence.rails.Names[p.rail], err)
		}
		if err := c.cut(ctx, i, p); err != nil {
			return fmt.Errorf("cut of %s by %v: %w", c.fence.rails.Names[p.rail], p.kind, err)
		}
	}
	return nil
}

func (c *cutter) cut(ctx context.Context, i int, p plan) error {
	w, stay := c.watch, time.Duration(p.stay*float64(c.time))
	downs, over := w.get(&w.downs, p.rail), w.get(&w.over, p.rail)
	if err := c.spring(ctx, i, p, stay); err != nil {
		return fmt.Errorf("the injector had no effect: nothing was written on the lane: %w", err)
	}
	c.stamps = append(c.stamps, c.inj.Report()[i].At)
	if err := c.until(ctx, c.waits.notice, func() bool { return w.get(&w.downs, p.rail) > downs }); err != nil {
		return fmt.Errorf("the lane was cut and not given up: %w", err)
	}
	if err := c.until(ctx, c.waits.back, func() bool { return w.get(&w.over, p.rail) > over }); err != nil {
		return fmt.Errorf("the lane was given up and not handed over: %w", err)
	}
	if err := c.until(ctx, stay+c.waits.back, func() bool { return c.inj.Report()[i].Over && w.get(&w.up, p.rail) > 0 }); err != nil {
		return fmt.Errorf("the lane did not come back: %w", err)
	}
	return nil
}

// spring cuts in the middle of a write: of a large one if there is one soon, for the larger the more is on the way.
func (c *cutter) spring(ctx context.Context, i int, p plan, stay time.Duration) error {
	inForce := func() bool {
		r := c.inj.Report()
		return i < len(r) && r[i].At != 0
	}
	t := trap{rule: fault.Rule{Kind: p.kind, For: stay}, rail: p.rail}
	t.fired = func() { // before any news of what the cut did
		if r := c.inj.Report()[i]; r.At != 0 {
			c.tell(line{Cut: &cutStamp{Rail: p.rail, Kind: p.kind.String(), At: r.At, For: stay, Streams: r.Streams}})
		}
	}
	for _, t.least = range worthCutting {
		c.fence.arm(t)
		if err := c.until(ctx, c.waits.worth, inForce); err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return c.until(ctx, c.waits.write, inForce)
}

// until looks again and again.
func (c *cutter) until(ctx context.Context, limit time.Duration, ok func() bool) error {
	for end := now() + limit; !ok(); {
		if now() > end {
			return fmt.Errorf("waited for %v", limit)
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
