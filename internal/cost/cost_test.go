package cost_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/cost"
)

const us, ns = time.Microsecond, time.Nanosecond

// bounds are the defaults.
var bounds = cost.Bounds{MaxFrame: 256 << 10, MaxMessage: 64 << 20, Puts: true}

// grounds are lanes as they are met.
var grounds = []struct {
	name   string
	lanes  []cost.Lane
	forced cost.Thresholds
	scheme cost.Scheme
}{
	{name: "tcp", lanes: []cost.Lane{{Trip: 60 * us, Rate: 1250e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10}}},
	{name: "tcp-far", lanes: []cost.Lane{{Trip: 40 * time.Millisecond, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10}}},
	{name: "rc", lanes: []cost.Lane{{Trip: 20 * us, Rate: 1250e6, Known: true, Frame: 400 * ns}}},
	{name: "rc-put", scheme: cost.ByPut, lanes: []cost.Lane{{Trip: 20 * us, Rate: 1250e6, Known: true, Frame: 400 * ns}}},
	{name: "shm", lanes: []cost.Lane{{Trip: 2 * us, Rate: 12500e6, Known: true, Frame: 400 * ns, ZeroCopy: 8 << 10, Direct: true}}},
	{name: "self", lanes: []cost.Lane{{Trip: us, Rate: 12500e6, Known: true, Frame: 200 * ns, ZeroCopy: 4 << 10}}},
	{name: "two-gigabit", lanes: []cost.Lane{
		{Trip: 80 * us, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10, Order: true}, {Trip: 80 * us, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10}}},
	{name: "two-unequal", lanes: []cost.Lane{
		{Trip: 200 * us, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10}, {Trip: 50 * us, Rate: 1250e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10, Order: true}}},
	{name: "two-unknown", lanes: []cost.Lane{
		{Trip: 50 * us, Rate: 125e6, ZeroCopy: 16 << 10, Order: true}, {Rate: 125e6, ZeroCopy: 16 << 10}}},
	{name: "two-forced", scheme: cost.ByPut, forced: cost.Thresholds{ZeroCopy: 32 << 10, Eager: 1000, Stripe: 100_000}, lanes: []cost.Lane{
		{Trip: 80 * us, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10, Order: true}, {Trip: 80 * us, Rate: 125e6, Known: true, Frame: 400 * ns, ZeroCopy: 16 << 10}}},
}

func model(lanes []cost.Lane, forced cost.Thresholds, scheme cost.Scheme) *cost.Model {
	b := bounds
	b.Forced, b.Scheme = forced, scheme
	return &cost.Model{Lanes: lanes, Bounds: b, Thresholds: cost.Choose(lanes, b)}
}

// TestD18_ChoicePerSize: what is chosen for each size is written down. A change that moves a threshold shows as one.
func TestD18_ChoicePerSize(t *testing.T) {
	for _, g := range grounds {
		m := model(g.lanes, g.forced, g.scheme)
		var s strings.Builder
		fmt.Fprintf(&s, "zero-copy from %d, eager up to %d, striped from %d, %d while others are under way, in parts of %d or more\n", m.ZeroCopy, m.Eager, m.Stripe, m.Busy, m.Part)
		for op := range cost.Ops {
			for _, mem := range m.Memories(op) {
				fmt.Fprintf(&s, "\n%v %v\n", op, mem)
				for r := range m.Ranges(op, mem) {
					to := fmt.Sprint(r.To)
					if r.To == math.MaxInt {
						to = ""
					}
					fmt.Fprintf(&s, "%9d..%-9s %-19v lanes %v  %d frames, %.1f us  to  %d frames, %.1f us, %.0f MB/s\n", r.From, to, r.First.Protocol, r.First.Lanes,
						r.First.Frames, float64(r.First.Latency)/1e3, r.Last.Frames, float64(r.Last.Latency)/1e3, r.Last.Rate/1e6)
				}
			}
		}
		golden(t, g.name, s.String())
	}
}

func golden(t *testing.T, name, got string) {
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("BRAID_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (BRAID_UPDATE=1 writes it anew):\n%s", path, d)
	}
}

func lane(t *rapid.T) cost.Lane {
	return cost.Lane{
		Trip: time.Duration(rapid.Int64Range(-1, 1<<40).Draw(t, "trip")), Rate: rapid.Float64Range(1e3, 1e12).Draw(t, "rate"), Known: rapid.Bool().Draw(t, "known"),
		Frame: time.Duration(rapid.Int64Range(0, 1<<20).Draw(t, "frame")), ZeroCopy: rapid.SampledFrom([]int{0, 4 << 10, 16 << 10}).Draw(t, "zero-copy"), Direct: rapid.Bool().Draw(t, "direct"),
	}
}

// TestBounds: whatever lanes are thought to bring, thresholds stay within bounds, and what is forced holds.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.SliceOfN(rapid.Custom(lane), 0, 5).Draw(t, "lanes")
		b := cost.Bounds{MaxFrame: rapid.IntRange(4<<10, 1<<20).Draw(t, "frame"), MaxMessage: 64 << 20}
		c := cost.Choose(lanes, b)
		if c.Eager < 1 || c.Eager > cost.MostEager || c.Eager >= b.MaxFrame || c.Stripe < 32<<10 || c.Stripe > 1<<20 || c.Busy < 32<<10 || c.Busy > c.Stripe || c.Part < 16<<10 || c.Part > c.Busy {
			t.Fatalf("%+v of %+v", c, lanes)
		}
		b.Forced = cost.Thresholds{ZeroCopy: 1, Eager: 2, Stripe: 8}
		if c := cost.Choose(lanes, b); c != (cost.Thresholds{ZeroCopy: 1, Eager: 2, Stripe: 8, Busy: 8, Part: 2}) {
			t.Fatalf("forced: %+v", c)
		}
	})
}

// TestRangesJoin: each size is in one range, which says of it what At says.
func TestRangesJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := rapid.SliceOfN(rapid.Custom(lane), 1, 4).Draw(t, "lanes")
		m := model(lanes, cost.Thresholds{}, cost.Auto)
		op := cost.Op(rapid.IntRange(0, int(cost.Stream)).Draw(t, "op")) // atomic ones have two sizes
		mem := cost.Memory(rapid.IntRange(0, 1).Draw(t, "memory"))
		next := 0
		for r := range m.Ranges(op, mem) {
			if r.From != next || r.To < r.From {
				t.Fatalf("%v: from %d, expected %d", op, r.From, next)
			}
			n := rapid.IntRange(r.From, min(r.To, 1<<30)).Draw(t, "size")
			for _, n := range []int{n, r.From, min(r.To, 1<<30)} {
				c, ok := m.At(op, n, mem)
				a, b := slices.Clone(c.Lanes), slices.Clone(r.First.Lanes)
				slices.Sort(a)
				slices.Sort(b)
				if !ok || c.Protocol != r.First.Protocol || !slices.Equal(a, b) || c.Latency < 0 || c.Rate < 0 || math.IsNaN(c.Rate) || math.IsInf(c.Rate, 0) {
					t.Fatalf("%v of %d: %+v in a range of %+v", op, n, c, r)
				}
			}
			if next = r.To + 1; r.To == math.MaxInt {
				next = -1
			}
		}
		most := -1
		if op == cost.AM {
			most = int(m.MaxMessage) + 1
		}
		if next != most {
			t.Fatalf("%v ends at %d, expected %d", op, next, most)
		}
	})
}

// TestChooseAllocatesNothing: it runs every few milliseconds.
func TestChooseAllocatesNothing(t *testing.T) {
	lanes := slices.Clone(grounds[5].lanes)
	var c cost.Thresholds
	if n := testing.AllocsPerRun(100, func() { c = cost.Choose(lanes, bounds) }); n != 0 {
		t.Errorf("%v allocations, %+v", n, c)
	}
}

// TestNoLanes: nothing is said where nothing can be done.
func TestNoLanes(t *testing.T) {
	m := model(nil, cost.Thresholds{}, cost.Auto)
	for op := range cost.Ops {
		for r := range m.Ranges(op, cost.Plain) {
			t.Errorf("%v: %+v", op, r)
		}
	}
	if m.Eager != 64<<10 || m.Stripe != 256<<10 {
		t.Errorf("%+v", m.Thresholds)
	}
}
