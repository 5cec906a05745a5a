package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf/duo"
	"github.com/openbraid/braid/internal/perf/median"
	"github.com/openbraid/braid/transport/shm"
)

const (
	fenceBlocks = 41
	roundTrips  = 48 // of a block: each takes as long as some fifty puts
)

// longPuts are so long that each goes over both lanes, so that what is behind its fence must wait.
const longPuts = "/put300000/lanes2"

// fenceRow is one row: what a fence costs over some lanes, beside something else.
type fenceRow struct {
	transport, name string
	lanes, n        int
	than            string // what it is compared with
	goal            duel.Goal
}

// fenceRows are those of each transport: with nothing before it, the call alone behind a put on one lane, in a stream of puts, and against a round trip for each.
func fenceRows() (all []fenceRow) {
	for _, t := range []string{"tcp", "rc", "shm"} {
		n := 20_000
		if t == "rc" {
			n = 5_000
		}
		all = append(all,
			fenceRow{t, "fence/" + t + "/idle", 1, 1_000_000, "", duel.AtMost(20)},
			fenceRow{t, "fence/" + t + "/behind", 1, n, "", duel.AtMost(20)},
			fenceRow{t, "fence/" + t + "/put8/lanes1", 1, n, "put", duel.AtLeast(0.8)})
		if t != "shm" { // which has one lane: the memory that both share
			all = append(all, fenceRow{t, "fence/" + t + "/put8/lanes2", 2, n, "put and a round trip", duel.AtLeast(0.8)},
				fenceRow{t, "fence/" + t + longPuts, 2, 20 * fenceBlocks, "put and a round trip", duel.AtLeast(0.8)})
		}
	}
	return all
}

// usable says what a system has not that some rows need.
var usable = map[string]func() error{"shm": shm.Usable}

// lacks says whether this system has no such transport, and notes that of a row.
func (r *report) lacks(kind, name string) bool {
	check := usable[kind]
	if check == nil {
		return false
	}
	err := check()
	if err != nil {
		r.Skipped = append(r.Skipped, name+": "+err.Error())
	}
	return err != nil
}

// fences measures what a fence costs.
func (b *bench) fences(ctx context.Context, r *report) error {
	for _, c := range fenceRows() {
		if !b.wants(c.name) || r.lacks(c.transport, c.name) {
			continue
		}
		row, err := c.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}

// measure makes blocks of it and of what it is compared with, in turns.
func (c fenceRow) measure(ctx context.Context) (duel.Row, error) {
	r := duel.Row{Name: c.name, Unit: "ns", Goal: c.goal.String(), Peer: c.than, Pairs: fenceBlocks}
	d, err := duo.New(ctx, c.transport, c.lanes)
	if err != nil {
		return r, err
	}
	defer d.Close()
	fence := func() error { d.Endpoint.Fence(); return nil }
	other, n, beside := func() error { return nil }, c.n/fenceBlocks, c.n/fenceBlocks
	if strings.HasSuffix(c.name, longPuts) {
		d.Long(300_000)
	}
	if c.lanes > 1 {
		other, beside = func() error { return d.End(d.Endpoint.PostFlush()) }, roundTrips
	}
	var ours, theirs, ratios []float64
	for range fenceBlocks {
		if c.than == "" {
			one := idleFence
			if strings.HasSuffix(c.name, "/behind") {
				one = fenceBehind
			}
			ns, err := one(d, n)
			if err != nil {
				return r, err
			}
			ours = append(ours, ns)
			continue
		}
		with, err := d.Puts(n, fence)
		if err != nil {
			return r, err
		}
		without, err := d.Puts(beside, other)
		if err != nil {
			return r, err
		}
		ours, theirs, ratios = append(ours, with), append(theirs, without), append(ratios, without/with)
	}
	r.Ours = median.Of(ours).Median
	r.Verdict = c.goal.Verdict(r.Ours)
	if c.than != "" {
		i := median.Of(ratios)
		r.Theirs, r.Ratio = median.Of(theirs).Median, &i
		r.Verdict = c.goal.Verdict(i.Median)
	}
	return r, nil
}

// idleFence is the time of a fence with nothing unexecuted.
func idleFence(d *duo.Duo, n int) (float64, error) {
	begun := time.Now()
	for range n {
		d.Endpoint.Fence()
	}
	return float64(time.Since(begun)) / float64(n), nil
}

// fenceBehind is the time of the call of a fence right behind a put, without what it costs to look at the clock.
func fenceBehind(d *duo.Duo, n int) (float64, error) {
	var took [2]time.Duration
	for i, call := range []func(){d.Endpoint.Fence, func() {}} {
		if _, err := d.Puts(n, func() error {
			begun := time.Now()
			call()
			took[i] += time.Since(begun)
			return nil
		}); err != nil {
			return 0, err
		}
	}
	return max(0, float64(took[0]-took[1])/float64(n)), nil
}

const ucxLoop = 20_000

// fencesUCX are put, and put and fence, beside the same loop in C over UCX: over TCP, and over shared memory.
func (b *bench) fencesUCX(ctx context.Context, r *report) error {
	var ucx duo.UCX
	var list []duel.Comparison
	for _, t := range []string{"tcp", "shm"} {
		for _, fence := range []bool{false, true} {
			c := duel.Comparison{Name: "fence/ucx/" + t + "/put8", Unit: "ns", Goal: duel.Goal{}, Peer: "UCX over " + t, Ours: duoPuts(t, fence)}
			if fence {
				c.Name += "+fence"
			}
			c.Theirs = func(ctx context.Context) (float64, error) {
				ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
				defer cancel()
				return ucx.Puts(ctx, t, fence, ucxLoop)
			}
			if b.wants(c.Name) && !r.lacks(t, c.Name) {
				list = append(list, c)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	var err error
	if ucx, err = duo.Build(ctx); err != nil {
		r.Skipped = append(r.Skipped, "fences beside UCX: "+err.Error())
		return nil
	}
	defer ucx.Close()
	for _, c := range list {
		rows, moved, err := b.compare(ctx, c)
		r.Moved += moved
		r.Rows = append(r.Rows, rows...)
		if err != nil {
			return err
		}
	}
	return nil
}

// duoPuts is our side of it.
func duoPuts(kind string, fence bool) duel.Runner {
	return func(ctx context.Context) (float64, error) {
		d, err := duo.New(ctx, kind, 1)
		if err != nil {
			return 0, err
		}
		defer d.Close()
		between := func() error {
			if fence {
				d.Endpoint.Fence()
			}
			return nil
		}
		if _, err := d.Puts(1000, between); err != nil {
			return 0, err
		}
		return d.Puts(ucxLoop, between)
	}
}
