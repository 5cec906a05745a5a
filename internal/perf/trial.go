package perf

import (
	"context"

	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/trial"
	"github.com/openbraid/braid/internal/verdict"
)

// mostTried is how many operations are looked at in a run that ends with its plan: a bit is kept of each.
const mostTried = 1 << 28

// runTrial is run with things that are broken on purpose. The verdict is part of the result, also of one that broke off.
func runTrial(ctx context.Context, addr string, p Params, tell func(Row)) (r Result, err error) {
	t := trial.New(*p.Faults)
	defer func() {
		if e := t.Close(); err == nil {
			err = e
		}
	}()
	if p.Faults.Ready != nil {
		p.Faults.Ready(t)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c, err := dial(ctx, addr, p, newID(), t)
	if err != nil {
		return r, err
	}
	var end error // of the connection; what it says of a peer that was killed is for the verdict
	defer c.close(&end)
	t.Injector().Wake = c.w.Wake
	if err := c.begin(max(mostTried, uint64(p.Warmup+p.Iterations))); err != nil {
		end = err
		return r, err
	}
	r.Lanes, r.ErrorMode = len(c.ep.Lanes()), c.ep.Mode().String()
	idle := newMeter(&p, nil)
	idle.Begin()
	if end = c.operate(p.Warmup, idle); end != nil {
		return r, c.explain(end)
	}
	m := newMeter(&p, tell)
	m.Begin()
	t.Begin(r.Lanes, func() { cancel(trial.ErrAway) })
	tally, end := c.tried(t, m)
	m.Row(true)
	p.Verify, r.Interrupted = end == nil, ctx.Err() != nil && context.Cause(ctx) != trial.ErrAway
	r.take(&p, m, tally)
	r.Offered = c.offered
	if r.Interrupted {
		r.Report = t.Stopped()
		return r, context.Cause(ctx)
	}
	r.Report = t.Verdict(verdict.Counts{Verified: p.Verify, Lost: tally.Lost, Doubled: tally.Doubled, Corrupt: tally.Corrupt, OutOfOrder: tally.Disorders}, end)
	return r, nil
}

// tried operates until the plan is over and all lanes are back, and has the server count.
func (c *client) tried(t *trial.Trial, m *meter.Meter) (Tally, error) {
	most := int(mostTried) - c.p.Warmup
	for done := 0; done < most && (!c.p.untilOver && done < c.p.Iterations || !c.p.Faults.Endless() && !t.Over()); {
		k := max(c.p.Stretch(), 64)
		if err := c.operate(k, m); err != nil {
			return Tally{}, c.explain(err)
		}
		done += k
	}
	i := 0
	err := t.Settle(func() error {
		i++
		c.w.Progress()
		return c.alive(c.ctx)
	})
	if err != nil {
		return Tally{}, c.explain(err)
	}
	return c.end()
}

// completed is told of each operation that is done.
func (c *client) completed() {
	if c.trial != nil {
		c.trial.Done()
	}
}
