package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/median"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// againstUCX are the comparisons with ucx_perftest's ucp_... tests.
func (b *bench) againstUCX(version string) (list []comparison) {
	add := func(name, unit string, l load, g goal) {
		list = append(list, comparison{name: name, unit: unit, goal: g, ours: b.braid(l), theirs: b.ucx(l), peer: "ucx " + version})
	}
	add("am_lat/8", "us", load{test: "am_lat", size: 8, iters: 20_000, pick: p50}, atMost(1))
	add("put_lat/8", "us", load{test: "put_lat", size: 8, iters: 20_000, pick: p50}, atMost(1))
	small := load{test: "am_bw", size: 8, iters: 300_000, pick: rate}
	add("am_rate/8", "msg/s", small, atLeast(5))
	small.more = []string{"-O", "256"}
	add("am_rate/8/window256", "msg/s", small, goal{none: true})
	for _, test := range []string{"tag_lat", "tag_sync_lat"} {
		add("tag/8/"+test, "us", load{test: test, size: 8, iters: 20_000, pick: p50}, atMost(1))
	}
	small.test, small.more = "tag_bw", nil
	add("tag/8/tag_rate", "msg/s", small, goal{none: true})
	add("tag/1MiB/tag_bw", "MB/s", bulk("tag_bw", mib), goal{none: true})
	flow := func(name, unit string, l load, g goal) { // calls on streams wait, which takes shared workers
		list = append(list, comparison{name: name, unit: unit, goal: g, ours: b.braid(l, "--shared"), theirs: b.ucx(l), peer: "ucx " + version})
	}
	flow("stream/8/stream_lat", "us", load{test: "stream_lat", size: 8, iters: 20_000, pick: p50}, atMost(1))
	flow("stream/1MiB/stream_bw", "MB/s", bulk("stream_bw", mib), atLeast(1.15))
	for _, test := range []string{"am_bw", "put_bw"} {
		for _, s := range []struct {
			name string
			size int
			must float64
		}{{"64KiB", 64 * kib, 1.5}, {"1MiB", mib, 1.15}, {"16MiB", 16 * mib, 1.15}} {
			add(test+"/"+s.name, "MB/s", bulk(test, s.size), atLeast(s.must))
		}
	}
	for _, s := range []struct{ size, iters int }{{8, 50_000}, {64 * kib, 4096}, {mib, 256}, {16 * mib, 32}} {
		l := load{test: "get", size: s.size, iters: s.iters, pick: bandwidth, more: []string{"-O", "32"}} // one by default, on both sides
		add("get_bw/"+sizeName(s.size), "MB/s", l, goal{none: true})
	}
	return list
}

// bulk is a load of 256 MiB and more, for bandwidth.
func bulk(test string, size int) load {
	return load{test: test, size: size, iters: max(32, min(10_000, 256*mib/size)), pick: bandwidth}
}

// againstOthers are those with the standard library, and of braid with itself.
func (b *bench) againstOthers() []comparison {
	lat := load{test: "am_lat", size: echoBytes, iters: 20_000, pick: p50}
	list := []comparison{
		{name: "netconn/8", unit: "us", inverse: true, goal: atLeast(8), ours: b.braid(lat), theirs: b.netConn, peer: "net.Conn"},
		{name: "shared/am_lat/8", unit: "us", goal: atMost(1.15), ours: b.braid(lat, "--shared"), theirs: b.braid(lat), peer: "owned"},
	}
	for _, size := range []int{8, 64 * kib, mib} {
		l := load{test: "am_bw", size: size, iters: max(100, min(400_000, 512*mib/size)), pick: bandwidth}
		list = append(list, comparison{
			name: "lanes2/am_bw/" + sizeName(size), unit: "MB/s", goal: goal{none: true}, ours: b.braid(l, "--lanes", "2"), theirs: b.braid(l), peer: "1 lane",
		})
	}
	return list
}

func sizeName(n int) string {
	switch {
	case n >= mib && n%mib == 0:
		return strconv.Itoa(n/mib) + "MiB"
	case n >= kib && n%kib == 0:
		return strconv.Itoa(n/kib) + "KiB"
	}
	return strconv.Itoa(n)
}

// smallNS is what failover may cost a small operation when that is more than 2 %.
const smallNS = 5

// modeSizes are the sizes at which error modes are compared. 16 and 32 KiB are those where the goal is missed: the smallest that are lent, of which a
// window is half a MiB or one.
func modeSizes(test string) []int {
	if test == "am_lat" {
		return []int{8, 4 * kib}
	}
	return []int{8, 4 * kib, 16 * kib, 32 * kib, 64 * kib, mib}
}

// modes compare failover and none.
func (b *bench) modes(ctx context.Context) (rows []row, err error) {
	for _, test := range []string{"am_bw", "put_bw", "am_lat"} {
		for _, size := range modeSizes(test) {
			name := fmt.Sprintf("modes/%s/%s", test, sizeName(size))
			if !b.wants(name) {
				continue
			}
			args := []string{"perftest", "--spawn", "--json", "--pair-modes", "-t", test, "-s", strconv.Itoa(size), "--pairs", strconv.Itoa(b.Pairs)}
			if cpu.CanPin {
				args = append(args, "--cpus", b.cpuA+","+b.cpuB)
			}
			r, err := b.perftest(ctx, args)
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
func modeRow(name string, size int, p *perf.Pair) row {
	g := atMost(1.02)
	r := row{
		Name: name, Peer: "mode none", Unit: "ns more", Pairs: p.Pairs, Ours: p.DeltaNS.Median,
		Ratio: &median.Interval{Median: p.Ratio, Low: p.Low, High: p.High}, Goal: g.String() + " (upper end)", Verdict: g.verdict(p.High),
	}
	if size < 4*kib {
		r.Goal, r.Verdict = fmt.Sprintf("<= %g or %d ns", g.must, smallNS), g.verdict(p.Ratio)
		if p.DeltaNS.Median <= smallNS {
			r.Verdict = "ok"
		}
	}
	return r
}
