package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf/median"
)

// echoDatagrams has the two ends stream over UDP: "write" is WRITEs of devices in software, "write,cut" those with segmentation by the kernel,
// "plain" datagrams and nothing else.
const echoDatagrams = "BRAID_BENCH_DATAGRAMS"

// overUDP is the throughput of a stream in MB/s.
func (b *bench) overUDP(what string) duel.Runner {
	return func(ctx context.Context) (float64, error) { return b.twoEnds(ctx, echoDatagrams+"="+what) }
}

// againstUDP are the comparisons of RDMA in software with what it stands on, and with lanes over TCP.
func (b *bench) againstUDP() []duel.Comparison {
	list := []duel.Comparison{
		{Name: "rdma/write/1MiB/udp", Unit: "MB/s", Goal: duel.AtLeast(0.6), Ours: b.overUDP("write"), Theirs: b.overUDP("plain"), Peer: "plain UDP"},
		{Name: "rdma/write/1MiB/cut", Unit: "MB/s", Goal: duel.Goal{}, Ours: b.overUDP("write,cut"), Theirs: b.overUDP("write"), Peer: "without segmentation"},
	}
	add := func(name, unit string, l rival.Load) {
		list = append(list, duel.Comparison{Name: "rc/" + name, Unit: unit, Goal: duel.Goal{}, Ours: b.braid(l, "--transport", "rc"), Theirs: b.braid(l), Peer: "tcp"})
	}
	add("am_lat/8", "us", rival.Load{Test: "am_lat", Size: 8, Iters: 20_000, Pick: rival.P50})
	add("put_lat/8", "us", rival.Load{Test: "put_lat", Size: 8, Iters: 20_000, Pick: rival.P50})
	add("am_rate/8", "msg/s", rival.Load{Test: "am_bw", Size: 8, Iters: 300_000, Pick: rival.Rate})
	for _, size := range []int{64 * rival.KiB, rival.MiB} {
		add("put_bw/"+rival.SizeName(size), "MB/s", rival.Bulk("put_bw", size))
	}
	return list
}

// rdmaGoals are the goals of RDMA in software that are values, not quotients.
func (b *bench) rdmaGoals(ctx context.Context) (rows []duel.Row, err error) {
	for _, g := range []struct {
		name, unit string
		goal       duel.Goal
		run        duel.Runner
	}{
		{"rdma/reach/write/1MiB", "MB/s", duel.AtLeast(1000), b.overUDP("write,cut")},
		{"rdma/reach/put_lat/8", "us", duel.AtMost(25), b.braid(rival.Load{Test: "put_lat", Size: 8, Iters: 20_000, Pick: rival.P50}, "--transport", "rc")},
		{"rdma/reach/am_lat/8", "us", duel.AtMost(25), b.braid(rival.Load{Test: "am_lat", Size: 8, Iters: 20_000, Pick: rival.P50}, "--transport", "rc")},
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
		rows = append(rows, duel.Row{Name: g.name, Unit: g.unit, Pairs: len(values), Ours: v, Goal: g.goal.String(), Verdict: g.goal.Verdict(v)})
	}
	return rows, nil
}
