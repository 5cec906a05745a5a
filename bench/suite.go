package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/median"
)

// againstUCX are the comparisons with ucx_perftest's ucp_... tests.
func (b *bench) againstUCX(version string) (list []duel.Comparison) {
	add := func(name, unit string, l rival.Load, g duel.Goal) {
		list = append(list, duel.Comparison{Name: name, Unit: unit, Goal: g, Ours: b.braid(l), Theirs: b.ucx(l), Peer: "ucx " + version})
	}
	add("am_lat/8", "us", rival.Load{Test: "am_lat", Size: 8, Iters: 20_000, Pick: rival.P50}, duel.AtMost(1))
	add("put_lat/8", "us", rival.Load{Test: "put_lat", Size: 8, Iters: 20_000, Pick: rival.P50}, duel.AtMost(1))
	small := rival.Load{Test: "am_bw", Size: 8, Iters: 300_000, Pick: rival.Rate}
	add("am_rate/8", "msg/s", small, duel.AtLeast(5))
	small.More = []string{"-O", "256"}
	add("am_rate/8/window256", "msg/s", small, duel.Goal{})
	for _, test := range []string{"tag_lat", "tag_sync_lat"} {
		add("tag/8/"+test, "us", rival.Load{Test: test, Size: 8, Iters: 20_000, Pick: rival.P50}, duel.AtMost(1))
	}
	small.Test, small.More = "tag_bw", nil
	add("tag/8/tag_rate", "msg/s", small, duel.Goal{})
	add("tag/1MiB/tag_bw", "MB/s", rival.Bulk("tag_bw", rival.MiB), duel.Goal{})
	flow := func(name, unit string, l rival.Load, g duel.Goal) { // calls on streams wait, which takes shared workers
		list = append(list, duel.Comparison{Name: name, Unit: unit, Goal: g, Ours: b.braid(l, "--shared"), Theirs: b.ucx(l), Peer: "ucx " + version})
	}
	flow("stream/8/stream_lat", "us", rival.Load{Test: "stream_lat", Size: 8, Iters: 20_000, Pick: rival.P50}, duel.AtMost(1))
	flow("stream/1MiB/stream_bw", "MB/s", rival.Bulk("stream_bw", rival.MiB), duel.AtLeast(1.15))
	for _, test := range []string{"am_bw", "put_bw"} {
		for _, s := range []struct {
			name string
			size int
			must float64
		}{{"64KiB", 64 * rival.KiB, 1.5}, {"1MiB", rival.MiB, 1.15}, {"16MiB", 16 * rival.MiB, 1.15}} {
			add(test+"/"+s.name, "MB/s", rival.Bulk(test, s.size), duel.AtLeast(s.must))
		}
	}
	for _, s := range []struct{ size, iters int }{{8, 50_000}, {64 * rival.KiB, 4096}, {rival.MiB, 256}, {16 * rival.MiB, 32}} {
		l := rival.Load{Test: "get", Size: s.size, Iters: s.iters, Pick: rival.Bandwidth, More: []string{"-O", "32"}} // one by default, on both sides
		add("get_bw/"+rival.SizeName(s.size), "MB/s", l, duel.Goal{})
	}
	return list
}

// againstOthers are those with the standard library, and of braid with itself.
func (b *bench) againstOthers() []duel.Comparison {
	lat := rival.Load{Test: "am_lat", Size: echo.Bytes, Iters: 20_000, Pick: rival.P50}
	list := []duel.Comparison{
		{Name: "netconn/8", Unit: "us", Inverse: true, Goal: duel.AtLeast(8), Ours: b.braid(lat), Theirs: b.netConn, Peer: "net.Conn"},
		{Name: "shared/am_lat/8", Unit: "us", Goal: duel.AtMost(1.15), Ours: b.braid(lat, "--shared"), Theirs: b.braid(lat), Peer: "owned"},
	}
	for _, size := range []int{8, 64 * rival.KiB, rival.MiB} {
		l := rival.Load{Test: "am_bw", Size: size, Iters: max(100, min(400_000, 512*rival.MiB/size)), Pick: rival.Bandwidth}
		list = append(list, duel.Comparison{
			Name: "lanes2/am_bw/" + rival.SizeName(size), Unit: "MB/s", Goal: duel.Goal{}, Ours: b.braid(l, "--lanes", "2"), Theirs: b.braid(l), Peer: "1 lane",
		})
	}
	return list
}

// smallNS is what failover may cost a small operation when that is more than 2 %.
const smallNS = 5

// modeSizes are the sizes at which error modes are compared. 16 and 32 KiB are those where the goal is missed: the smallest that are lent, of which a
// window is half a MiB or one.
func modeSizes(test string) []int {
	if test == "am_lat" {
		return []int{8, 4 * rival.KiB}
	}
	return []int{8, 4 * rival.KiB, 16 * rival.KiB, 32 * rival.KiB, 64 * rival.KiB, rival.MiB}
}

// modes compare failover and none.
func (b *bench) modes(ctx context.Context) (rows []duel.Row, err error) {
	for _, test := range []string{"am_bw", "put_bw", "am_lat"} {
		for _, size := range modeSizes(test) {
			name := fmt.Sprintf("modes/%s/%s", test, rival.SizeName(size))
			if !b.wants(name) {
				continue
			}
			args := []string{"perftest", "--spawn", "--json", "--pair-modes", "-t", test, "-s", strconv.Itoa(size), "--pairs", strconv.Itoa(b.Pairs)}
			if cpu.CanPin {
				args = append(args, "--cpus", b.cpuA+","+b.cpuB)
			}
			r, err := b.programs().Perftest(ctx, args)
			if err != nil {
				return rows, err
			}
			rows = append(rows, modeRow(name, size, r.Pair))
		}
	}
	return rows, nil
}

// modeRow judges what failover costs. From 4 KiB on the upper end of the interval must keep the bound: a median that keeps it says
// nothing as long as the interval reaches beyond. Below, the bound is the larger of 2 % and smallNS, and the medians are
// judged: where an operation takes 200 ns, the interval is wider than the bound, whatever failover costs.
func modeRow(name string, size int, p *perf.Pair) duel.Row {
	g := duel.AtMost(1.02)
	r := duel.Row{
		Name: name, Peer: "mode none", Unit: "ns more", Pairs: p.Pairs, Ours: p.DeltaNS.Median,
		Ratio: &median.Interval{Median: p.Ratio, Low: p.Low, High: p.High}, Goal: g.String() + " (upper end)", Verdict: g.Verdict(p.High),
	}
	if size < 4*rival.KiB {
		r.Goal, r.Verdict = fmt.Sprintf("<= %g or %d ns", g.Bound(), smallNS), g.Verdict(p.Ratio)
		if p.DeltaNS.Median <= smallNS {
			r.Verdict = "ok"
		}
	}
	return r
}
