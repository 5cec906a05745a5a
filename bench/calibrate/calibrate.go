package calibrate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/median"
)

const (
	kib = 1 << 10
	mib = 1 << 20

	// maxFrame is what transports agree on where nobody says anything.
	maxFrame = 256 * kib
)

// Sample is one test.
type Sample struct {
	Test string
	Size int
}

// Row is what was measured, beside what the model says, or beside another choice.
type Row struct {
	Name, Peer, Unit string
	Rounds           int
	Measured, Other  float64
	Ratio            *median.Interval
	Goal, Verdict    string
}

// Runner runs tests one after the other between the same two processes, with options of braid perftest.
type Runner func(ctx context.Context, list []Sample, more ...string) ([]perf.Result, error)

// Options say what is measured, and how.
type Options struct {
	Rounds int
	Wants  func(name string) bool
	Run    Runner
	// Rails is Run over two rails of 1 Gbit/s; nil where there are none.
	Rails Runner
	Say   func(name string) // is told what comes
}

// run is what is under way, and what was found.
type run struct {
	Options
	rows []Row
}

// All measures all that is wanted. What was found before an error is returned with it.
func All(ctx context.Context, o Options) ([]Row, error) {
	r := &run{Options: o}
	err := r.all(ctx)
	return r.rows, err
}

func (r *run) all(ctx context.Context) error {
	if r.Wants("cost/copy") {
		r.rows = append(r.rows, Row{Name: "cost/copy", Peer: "the model's", Unit: "ns a byte", Measured: Copy(), Other: cost.Copying})
	}
	if r.Wants("cost/lend") {
		d, err := Lend()
		if err != nil {
			return err
		}
		r.rows = append(r.rows, Row{Name: "cost/lend", Peer: "the model's", Unit: "us", Measured: micros(d), Other: micros(cost.Lending)})
	}
	for _, t := range transports {
		if err := r.expected(ctx, t); err != nil {
			return err
		}
		for _, c := range choices {
			if err := r.chosen(ctx, t.name, c, r.Run); err != nil {
				return err
			}
		}
	}
	if r.Rails == nil {
		return nil
	}
	return r.chosen(ctx, "rails", striping, r.Rails)
}

// transport is one, with what it declares.
type transport struct {
	name string
	lane cost.Lane
}

var transports = []transport{
	{"tcp", cost.Lane{ZeroCopy: 16 * kib, Frame: 400 * time.Nanosecond, Known: true}},
	{"shm", cost.Lane{ZeroCopy: 8 * kib, Frame: 400 * time.Nanosecond, Known: true, Direct: true}},
	{"rc", cost.Lane{Frame: 400 * time.Nanosecond, Known: true}},
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// costSizes are at both sides of what is chosen.
var costSizes = []int{8, 4 * kib, 16 * kib, 64 * kib, 128 * kib, mib}

// expected measures a lane, and then what the model says of each operation on it.
func (r *run) expected(ctx context.Context, t transport) error {
	transport, l := t.name, t.lane
	ops := []struct {
		op             cost.Op
		lat, bandwidth string
	}{{cost.AM, "am_lat", "am_bw"}, {cost.Tag, "tag_lat", "tag_bw"}, {cost.Put, "put_lat", "put_bw"}, {cost.Get, "get", ""}}
	name := func(op cost.Op, size int) string { return fmt.Sprintf("cost/%s/%v/%s", transport, op, sizeName(size)) }
	if !slices.ContainsFunc(costSizes, func(n int) bool { return r.Wants(name(cost.AM, n)) }) {
		return nil
	}
	r.Say("cost/" + transport)
	var list []Sample
	for _, o := range ops {
		for _, n := range costSizes {
			list = append(list, Sample{o.lat, n})
			if o.bandwidth != "" {
				list = append(list, Sample{o.bandwidth, n})
			}
		}
	}
	times := map[Sample][]float64{} // us of an operation
	for round := range r.Rounds {
		first := round * len(list) / r.Rounds // what is first is measured while processors still come to speed
		turned := append(slices.Clone(list[first:]), list[:first]...)
		found, err := r.Run(ctx, turned, "--transport", transport)
		if err != nil {
			return err
		}
		for i, s := range turned {
			us := found[i].Latency.P50
			if found[i].Latency.Over*20 > found[i].Iterations { // too few stretches: most of them only post
				us = found[i].Latency.Avg
			}
			times[s] = append(times[s], us)
		}
	}
	of := func(test string, n int) float64 { return median.Of(times[Sample{test, n}]).Median }
	var points []Point
	for _, n := range costSizes {
		if n <= 128*kib { // one frame
			points = append(points, Point{Bytes: n, NS: of("am_bw", n) * 1e3})
		}
	}
	declared := l.Frame
	each, perByte := Line(points)
	l.Trip, l.Rate, l.Frame = time.Duration(2e3*of("am_lat", 8)), 1e9/max(perByte, 1e-3), time.Duration(each)
	r.rows = append(r.rows, Row{Name: "cost/" + transport + "/trip", Unit: "us", Measured: micros(l.Trip)}, Row{Name: "cost/" + transport + "/rate", Unit: "MB/s", Measured: l.Rate / 1e6},
		Row{Name: "cost/" + transport + "/frame", Peer: "declared", Unit: "us", Measured: micros(l.Frame), Other: micros(declared)})
	for _, o := range ops {
		for _, n := range costSizes {
			protocol, latency, rate := Expect(l, maxFrame, o.op, n)
			add := func(what, unit string, all []float64, expect float64) {
				for i, us := range all {
					if all[i] = us / expect; unit != "us" {
						all[i] = float64(n) / us / expect
					}
				}
				q := median.Of(all)
				v := q.Median * expect
				r.rows = append(r.rows, Row{Name: name(o.op, n) + "/" + what, Peer: protocol, Unit: unit, Rounds: r.Rounds, Measured: v, Other: expect, Ratio: &q})
			}
			add("latency", "us", slices.Clone(times[Sample{o.lat, n}]), micros(latency))
			if o.bandwidth != "" {
				add("rate", "MB/s", slices.Clone(times[Sample{o.bandwidth, n}]), rate/1e6)
			}
		}
	}
	return nil
}

// choice is what is chosen by size, and the settings that force it one way and the other.
type choice struct {
	name, test string
	sizes      []int
	forced     [2]string
}

// striping is a choice between lanes.
var striping = choice{"stripe", "am_lat", []int{16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib}, [2]string{"stripe=16m", "stripe=8k"}}

// choices are those on a single lane.
var choices = []choice{
	{"eager", "tag_lat", []int{16 * kib, 32 * kib, 64 * kib, 128 * kib, 200 * kib}, [2]string{"eager=255k", "eager=8k"}},
	{"zero-copy", "am_bw", []int{4 * kib, 8 * kib, 16 * kib, 32 * kib, 64 * kib}, [2]string{"zero-copy=1m", "zero-copy=2k"}},
}

// chosen compares what is chosen with both that could be.
func (r *run) chosen(ctx context.Context, transport string, c choice, measure Runner) error {
	prefix := fmt.Sprintf("cost/%s/%s/", transport, c.name)
	if !r.Wants(prefix) {
		return nil
	}
	r.Say(prefix)
	var list []Sample
	for _, n := range c.sizes {
		list = append(list, Sample{c.test, n})
	}
	all := make([][3][]float64, len(list)) // of each size: times as chosen, and of either
	for round := range r.Rounds {
		var v [3][]perf.Result
		for i := range v {
			which := (i + round) % 3
			var args []string
			if transport != "rails" {
				args = []string{"--transport", transport}
			}
			if which > 0 {
				args = append(args, "--set", c.forced[which-1])
			}
			var err error
			if v[which], err = measure(ctx, list, args...); err != nil {
				return err
			}
		}
		for i := range list {
			for k := range v {
				all[i][k] = append(all[i][k], v[k][i].Latency.P50)
			}
		}
	}
	for i, s := range list {
		r.rows = append(r.rows, judged(prefix+sizeName(s.Size), c.forced, all[i]))
	}
	return nil
}

// judged compares what is chosen with the better of both: in the median, not in each round, for the lesser of two that are equal is less than either.
func judged(name string, forced [2]string, times [3][]float64) Row {
	best := 1
	if median.Of(times[2]).Median < median.Of(times[1]).Median {
		best = 2
	}
	var ratios []float64
	for i, t := range times[0] {
		ratios = append(ratios, t/times[best][i])
	}
	q := median.Of(ratios)
	l := Row{
		Name: name, Peer: forced[best-1], Unit: "us", Rounds: len(ratios), Measured: median.Of(times[0]).Median, Other: median.Of(times[best]).Median, Ratio: &q,
		Goal: "95 % hold 1, or below", Verdict: "ok",
	}
	if q.Low > most {
		l.Verdict = "MISSED"
	}
	return l
}

// most is what two runs of the same may differ by.
const most = 1.02

func sizeName(n int) string {
	switch {
	case n >= mib && n%mib == 0:
		return strconv.Itoa(n/mib) + "MiB"
	case n >= kib && n%kib == 0:
		return strconv.Itoa(n/kib) + "KiB"
	}
	return strconv.Itoa(n)
}
