package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/median"
)

// The whole interval must keep the bound, of a small operation in percent or in nanoseconds.
func TestModeVerdict(t *testing.T) {
	ns := func(high float64) median.Interval { return median.Interval{Median: high - 1, High: high} }
	cheap := &perf.Pair{Ratio: 1.10, Low: 1.05, High: 1.15, DeltaNS: ns(5)}
	wide := &perf.Pair{Ratio: 0.96, Low: 0.949, High: 1.04, DeltaNS: median.Interval{Median: -231, High: 400}}
	dear := &perf.Pair{Ratio: 1.03, Low: 1.02, High: 1.04, DeltaNS: ns(6)}
	tight := &perf.Pair{Ratio: 1.01, Low: 1, High: 1.02, DeltaNS: ns(120)}
	for _, c := range []struct {
		size int
		p    *perf.Pair
		want string
	}{
		{8, cheap, "ok"}, {4 * rival.KiB, cheap, "MISSED"}, {8, wide, "MISSED"}, {4 * rival.KiB, wide, "MISSED"}, {rival.MiB, wide, "MISSED"},
		{8, dear, "MISSED"}, {8, tight, "ok"}, {4 * rival.KiB, tight, "ok"},
	} {
		if r := modeRow("x", c.size, c.p); r.Verdict != c.want || !strings.HasSuffix(r.Goal, "(upper end)") {
			t.Errorf("%d bytes: %+v, not %s", c.size, r, c.want)
		}
	}
}

// Each size at which the goal is judged has its row, also those where it is missed, and asks perftest for it.
func TestModeRows(t *testing.T) {
	dir := t.TempDir()
	asked := filepath.Join(dir, "asked")
	braid := filepath.Join(dir, "braid") // says what it was asked, and an answer that misses the goal
	script := "#!/bin/sh\necho \"$@\" >> " + asked + "\necho '" + `{"pair":{"ratio":1.03,"low":1.021,"high":1.04,"delta_ns":{"median":3,"low":1,"high":5},"pairs":200}}` + "'\n"
	if err := os.WriteFile(braid, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	b := &bench{only: regexp.MustCompile("^modes"), Pairs: 200, Braid: braid, cpuA: "0", cpuB: "1"}
	rows, err := b.modes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, strings.TrimPrefix(r.Name, "modes/"))
		if want := map[bool]string{true: "ok", false: "MISSED"}[strings.HasSuffix(r.Name, "/8")]; r.Verdict != want || !strings.HasPrefix(r.Goal, "<= 1.02") {
			t.Errorf("%+v", r)
		}
	}
	const want = "am_bw/8 am_bw/4KiB am_bw/16KiB am_bw/32KiB am_bw/64KiB am_bw/1MiB " +
		"put_bw/8 put_bw/4KiB put_bw/16KiB put_bw/32KiB put_bw/64KiB put_bw/1MiB am_lat/8 am_lat/4KiB"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("rows %s", got)
	}
	said, err := os.ReadFile(asked)
	if err != nil || !strings.Contains(string(said), "--pair-modes -t put_bw -s 32768 --pairs 200") {
		t.Errorf("%s, %v", said, err)
	}
}

// TestPairRows: every test has its rows over both transports, as perftest would have them, and none of them runs unasked.
func TestPairRows(t *testing.T) {
	b := &bench{Only: "^nothing$", only: regexp.MustCompile("^pair"), Pairs: 200, cpuA: "0", cpuB: "1"}
	runs := map[string]int{}
	for _, r := range pairRuns() {
		x, err := catalog.Lookup(r.test)
		if err != nil || !b.wants(r.name) || r.name != "pair/"+r.transport+"/"+r.test+"/"+rival.SizeName(r.size) {
			t.Errorf("%+v: %v", r, err)
		}
		p := perf.PairParams{Params: perf.Params{Test: r.test, Size: r.size, Setup: perf.Setup{Transport: r.transport, Shared: x.Stream}}, Pairs: b.Pairs}
		if err := p.Validate(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
		if line := strings.Join(b.args(r), " "); !strings.Contains(line, "-t "+r.test+" ") || !strings.Contains(line, "--transport "+r.transport) || strings.Contains(line, "--shared") != x.Stream {
			t.Errorf("%+v: %s", r, line)
		}
		runs[r.transport+" "+r.test]++
	}
	for _, n := range catalog.Names() {
		x, _ := catalog.Lookup(n[0])
		for _, transport := range []string{"tcp", "rc"} {
			if want := map[bool]int{false: 3, true: 1}[x.Atomic]; runs[transport+" "+n[0]] != want {
				t.Errorf("%s over %s has %d rows, not %d", n[0], transport, runs[transport+" "+n[0]], want)
			}
		}
	}
	b.only, b.Braid = regexp.MustCompile("^pair/rc/tag_bw/"), "no such program"
	if rows, err := b.modes(t.Context()); err == nil || strings.Count(err.Error(), "pair/rc/tag_bw/") != 3 || len(rows) > 0 {
		t.Errorf("one row that fails ends the others: %v, %v", rows, err)
	}
	b.Only, b.only, b.Braid = "", regexp.MustCompile("^pair"), "no such program"
	if rows, err := b.modes(t.Context()); err != nil || len(rows) > 0 {
		t.Errorf("nobody asked: %v, %v", rows, err)
	}
}

func TestSkipsWithReason(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	b := &bench{only: regexp.MustCompile("^nothing$"), Pairs: 200, cpuA: "0", cpuB: "0"}
	var r report
	if err := b.between(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0], "not installed") {
		t.Errorf("%q", r.Skipped)
	}
}

// A name that nothing has is a mistake, and no empty table.
func TestNothingHasTheName(t *testing.T) {
	if runtime.NumCPU() < 2 || !cpu.CanPin {
		t.Skip("what is left out here is said instead")
	}
	b := &bench{Only: "^nothing$", CPUs: "0,1", Braid: "none", UCX: "true"}
	if err := b.run(t.Context()); err == nil || !strings.Contains(err.Error(), "--only ^nothing$: nothing has such a name") {
		t.Error(err)
	}
}

// Gets are compared with the same window on both sides, and judged by nobody.
func TestGetRows(t *testing.T) {
	var names []string
	for _, c := range new(bench).againstUCX("x") {
		if strings.HasPrefix(c.Name, "get") {
			names = append(names, c.Name)
			if c.Unit != "MB/s" || c.Goal.Verdict(0) != "" || c.Ours == nil || c.Theirs == nil {
				t.Errorf("%+v", c)
			}
		}
	}
	if got := strings.Join(names, " "); got != "get_bw/8 get_bw/64KiB get_bw/1MiB get_bw/16MiB" {
		t.Error(got)
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	r := report{Machine: "m", Moved: 2, Skipped: []string{"this"}, Rows: []duel.Row{
		{Name: "a", Class: duel.Near, Unit: "us", Pairs: 3, Ours: 1.234, Theirs: 12345, Ratio: &median.Interval{Median: 0.5, Low: 0.4, High: 0.6}, Goal: "<= 1", Verdict: "ok"},
		{Name: "turn/1", Unit: "ns/turn", Ours: 262},
	}}
	r.print(&out)
	for _, want := range []string{"near", "1.23", "12345", "0.500", "0.400 to 0.600", "<= 1", "ok", "262.0", "2 pairs left out", "skipped: this"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestIdleCrowd(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := newIdlers()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for _, n := range []int{1, 5} {
		if err := c.grow(ctx, n); err != nil || len(c.eps) != n {
			t.Fatal(len(c.eps), err)
		}
	}
	if ns := c.turn(); ns <= 0 || ns > 1e7 {
		t.Error(ns)
	}
}

// The two roles of the ping-pong over net.Conn are this program again.
func TestMain(m *testing.M) {
	asRole()
	os.Exit(m.Run())
}

func TestNetConn(t *testing.T) {
	if !cpu.CanPin {
		t.Skip("no processor can be chosen on this system")
	}
	b := &bench{cpuA: "0", cpuB: "0"}
	us, err := b.netConn(context.Background())
	if err != nil || us <= 0 || us > 1e6 {
		t.Errorf("%v us, %v", us, err)
	}
}

// The two ends of a stream are this program again, too.
func TestSocketsBW(t *testing.T) {
	if !cpu.CanPin {
		t.Skip("sockets are polled by hand on Linux only")
	}
	b := &bench{cpuA: "0", cpuB: "0"}
	for _, congestion := range []string{"", withinHost} {
		mbs, err := b.socketsBW(rival.Load{Size: 100_000, Iters: 20}, congestion)(context.Background())
		if err != nil || mbs <= 0 || mbs > 1e6 {
			t.Errorf("%q: %v MB/s, %v", congestion, mbs, err)
		}
	}
	if _, err := b.socketsBW(rival.Load{Size: 1, Iters: 1}, "hope")(context.Background()); err == nil {
		t.Error("a congestion control that does not exist")
	}
	if mbs, err := b.socketsAnswered(rival.Load{Size: 100_000, Iters: 20}, "", 3)(context.Background()); err != nil || mbs <= 0 || mbs > 1e6 {
		t.Errorf("with answers: %v MB/s, %v", mbs, err)
	}
	want := streaming{size: 7, warm: 0, count: 2, each: 5}
	if got, err := parseStreaming(want.String()); err != nil || *got != want {
		t.Error(got, err)
	}
	for _, bad := range []string{"x", "1 2", "1 0 1", "0 0 1 0", "1 -1 1 0", "1 0 1 -1", "1 0 0 0 reno"} {
		if _, err := parseStreaming(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Each size of bare sockets sends what braid sends.
func TestSocketRows(t *testing.T) {
	var names []string
	for _, c := range new(bench).againstSockets() {
		names = append(names, c.Name)
		if c.Goal.Verdict(0) != "" || c.Ours == nil || c.Theirs == nil {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(names, " "); got != "sockets/8 sockets_bw/64KiB sockets_bw/1MiB sockets_bw/16MiB sockets_answered/512KiB sockets_reno/1MiB" {
		t.Error(got)
	}
}
