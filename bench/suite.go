package main

import (
	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
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
