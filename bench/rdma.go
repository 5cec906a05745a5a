package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/openbraid/braid/internal/perf/median"
)

// echoDatagrams has the two ends stream over UDP: "write" is WRITEs of devices in software, "write,cut" those with segmentation by the kernel,
// "plain" datagrams and nothing else.
const echoDatagrams = "BRAID_BENCH_DATAGRAMS"

// overUDP is the throughput of a stream in MB/s.
func (b *bench) overUDP(what string) runner {
	return func(ctx context.Context) (float64, error) { return b.twoEnds(ctx, echoDatagrams+"="+what) }
}

// againstUDP are the comparisons of RDMA in software with what it stands on, and with lanes over TCP.
func (b *bench) againstUDP() []comparison {
	list := []comparison{
		{name: "rdma/write/1MiB/udp", unit: "MB/s", goal: atLeast(0.6), ours: b.overUDP("write"), theirs: b.overUDP("plain"), peer: "plain UDP"},
		{name: "rdma/write/1MiB/cut", unit: "MB/s", goal: goal{none: true}, ours: b.overUDP("write,cut"), theirs: b.overUDP("write"), peer: "without segmentation"},
	}
	add := func(name, unit string, l load) {
		list = append(list, comparison{name: "rc/" + name, unit: unit, goal: goal{none: true}, ours: b.braid(l, "--transport", "rc"), theirs: b.braid(l), peer: "tcp"})
	}
	add("am_lat/8", "us", load{test: "am_lat", size: 8, iters: 20_000, pick: p50})
	add("put_lat/8", "us", load{test: "put_lat", size: 8, iters: 20_000, pick: p50})
	add("am_rate/8", "msg/s", load{test: "am_bw", size: 8, iters: 300_000, pick: rate})
	for _, size := range []int{64 * kib, mib} {
		add("put_bw/"+sizeName(size), "MB/s", bulk("put_bw", size))
	}
	return list
}

// rdmaGoals are the goals of RDMA in software that are values, not quotients.
func (b *bench) rdmaGoals(ctx context.Context) (rows []row, err error) {
	for _, g := range []struct {
		name, unit string
		goal       goal
		run        runner
	}{
		{"rdma/reach/write/1MiB", "MB/s", atLeast(1000), b.overUDP("write,cut")},
		{"rdma/reach/put_lat/8", "us", atMost(25), b.braid(load{test: "put_lat", size: 8, iters: 20_000, pick: p50}, "--transport", "rc")},
		{"rdma/reach/am_lat/8", "us", atMost(25), b.braid(load{test: "am_lat", size: 8, iters: 20_000, pick: p50}, "--transport", "rc")},
	} {
		if !b.wants(g.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", g.name)
		var values []float64
		for range b.Rounds {
			v, err := g.run(ctx)
			if err != nil {
				return rows, fmt.Errorf("%s: %w", g.name, err)
			}
			values = append(values, v)
			time.Sleep(10 * time.Millisecond)
		}
		v := median.Of(values).Median
		rows = append(rows, row{Name: g.name, Unit: g.unit, Pairs: len(values), Ours: v, Goal: g.goal.String(), Verdict: g.goal.verdict(v)})
	}
	return rows, nil
}
