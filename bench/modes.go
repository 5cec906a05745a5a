package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/median"
)

// modeRun is a test in which error modes are compared.
type modeRun struct {
	name, transport, test string
	size                  int
}

// modeRuns are those of each run of the benchmarks. 16 and 32 KiB are the sizes where the goal is missed: the smallest that are lent, of which a
// window is half a MiB or one.
func modeRuns() (list []modeRun) {
	for _, test := range []string{"am_bw", "put_bw", "am_lat"} {
		sizes := []int{8, 4 * rival.KiB, 16 * rival.KiB, 32 * rival.KiB, 64 * rival.KiB, rival.MiB}
		if test == "am_lat" {
			sizes = sizes[:2]
		}
		for _, size := range sizes {
			list = append(list, modeRun{fmt.Sprintf("modes/%s/%s", test, rival.SizeName(size)), "tcp", test, size})
		}
	}
	return list
}

// pairRuns are all that the goal speaks of: every test at three sizes, an atomic one on its word, over tcp and rc. They are half an hour, so they run
// only where --only says something.
func pairRuns() (list []modeRun) {
	for _, transport := range []string{"tcp", "rc"} {
		for _, n := range catalog.Names() {
			sizes := []int{8, 4 * rival.KiB, rival.MiB}
			if t, err := catalog.Lookup(n[0]); err == nil && t.Atomic {
				sizes = sizes[:1]
			}
			for _, size := range sizes {
				list = append(list, modeRun{fmt.Sprintf("pair/%s/%s/%s", transport, n[0], rival.SizeName(size)), transport, n[0], size})
			}
		}
	}
	return list
}

// args are those of braid for a run.
func (b *bench) args(r modeRun) []string {
	args := []string{"perftest", "--spawn", "--json", "--pair-modes", "-t", r.test, "-s", strconv.Itoa(r.size), "--pairs", strconv.Itoa(b.Pairs), "--transport", r.transport}
	if catalog.Waits(r.test) {
		args = append(args, "--shared")
	}
	if cpu.CanPin {
		args = append(args, "--cpus", b.cpuA+","+b.cpuB)
	}
	return args
}

// modes compare failover and none.
func (b *bench) modes(ctx context.Context) (rows []duel.Row, err error) {
	list := modeRuns()
	if b.Only != "" {
		list = append(list, pairRuns()...)
	}
	var failed []error
	for _, run := range list {
		if !b.wants(run.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", run.name)
		r, err := b.programs().Perftest(ctx, b.args(run))
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		if err != nil { // the others are worth as much
			failed = append(failed, fmt.Errorf("%s: %w", run.name, err))
			continue
		}
		rows = append(rows, modeRow(run.name, run.size, r.Pair))
	}
	return rows, errors.Join(failed...)
}

// smallNS is what failover may cost a small operation when that is more than 2 %.
const smallNS = 5

// modeRow judges what failover costs. The upper end of the interval must keep the bound: a median that keeps it says nothing as long as the interval
// reaches beyond. Below 4 KiB the bound is the larger of 2 % and smallNS.
func modeRow(name string, size int, p *perf.Pair) duel.Row {
	g := duel.AtMost(1.02)
	r := duel.Row{
		Name: name, Peer: "mode none", Unit: "ns more", Pairs: p.Pairs, Ours: p.DeltaNS.Median,
		Ratio: &median.Interval{Median: p.Ratio, Low: p.Low, High: p.High}, Goal: g.String() + " (upper end)", Verdict: g.Verdict(p.High),
	}
	if size < 4*rival.KiB {
		r.Goal = fmt.Sprintf("<= %g or %d ns (upper end)", g.Bound(), smallNS)
		if p.DeltaNS.High <= smallNS {
			r.Verdict = "ok"
		}
	}
	return r
}
