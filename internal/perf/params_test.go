package perf

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/perf/gather"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		p    Params
		want string // part of the error; "" is none
	}{
		{Params{Test: "am_lat"}, ""},
		{Params{Test: "ucp_put_bw", Size: 1 << 20}, ""},
		{Params{}, "which test"},
		{Params{Test: "stream_lat", Size: 8}, "--shared"},
		{Params{Test: "ucp_stream_lat", Size: 8, Setup: Setup{Shared: true}}, ""},
		{Params{Test: "stream_bw", Setup: Setup{Shared: true}}, "-s 0"},
		{Params{Test: "stream_bw", Size: 8, Header: 8, Setup: Setup{Shared: true}}, "no headers"},
		{Params{Test: "stream_bw", Size: 8, Outstanding: 2, Setup: Setup{Shared: true}}, "no window"},
		{Params{Test: "stream_bw", Size: 8, Setup: Setup{Shared: true, Sleep: true}}, "without -E sleep"},
		{Params{Test: "am_late"}, "no such test; there are put_lat"},
		{Params{Test: "am_lat", Size: -1}, "-s -1"},
		{Params{Test: "am_bw", Size: 2 << 30}, "-s 2147483648"},
		{Params{Test: "am_bw", Iterations: -3}, "-n -3"},
		{Params{Test: "am_bw", Warmup: -3}, "-w -3"},
		{Params{Test: "am_lat", Outstanding: 2}, "use am_bw"},
		{Params{Test: "am_bw", Outstanding: 5000}, "-O 5000"},
		{Params{Test: "put_bw", Header: 8}, "a put has no header"},
		{Params{Test: "ucp_get", Outstanding: 32}, ""},
		{Params{Test: "get", Header: 8}, "a get has no header"},
		{Params{Test: "get", Verify: true}, "--verify"},
		{Params{Test: "am_bw", Header: 4, Verify: true}, "number of 8 bytes"},
		{Params{Test: "put_lat", Size: 4}, "counter"},
		{Params{Test: "put_bw", Verify: true}, "--verify"},
		{Params{Test: "put_lat", Size: 16, Setup: Setup{Shared: true}}, "with --shared"},
		{Params{Test: "put_lat", Size: 8, Setup: Setup{Shared: true}}, ""},
		{Params{Test: "am_lat", Percentile: 101}, "-R 101"},
		{Params{Test: "am_lat", Percentile: math.NaN()}, "-R NaN"},
		{Params{Test: "am_bw", Size: 24, Lists: gather.Layout{Sizes: []int{8, 16}, Here: true}}, ""},
		{Params{Test: "am_bw", Size: 24, Lists: gather.Layout{Sizes: []int{8, 16}}}, "with -D iov"},
		{Params{Test: "am_bw", Size: 23, Lists: gather.Layout{Sizes: []int{8, 16}, Here: true}}, "have 24 bytes"},
		{Params{Test: "am_bw", Size: 24, Outstanding: 2, Lists: gather.Layout{Sizes: []int{8, 16}, Here: true}}, "no window"},
		{Params{Test: "put_bw", Size: 24, Lists: gather.Layout{Sizes: []int{8, 16}, There: true}}, "only this side"},
		{Params{Test: "tag_lat", Size: 24, Lists: gather.Layout{Sizes: []int{8, 16}, Here: true}}, "measure tag_bw"},
		{Params{Test: "add", Size: 8, Lists: gather.Layout{Sizes: []int{8}, Here: true}}, "add has no lists"},
		{Params{Test: "am_lat", Setup: Setup{Transport: "ib"}}, "--transport ib"},
		{Params{Test: "am_lat", Setup: Setup{Transport: "self"}}, "within one worker"},
		{Params{Test: "am_lat", Setup: Setup{Sleep: true, Shared: true}}, "measure it with --owned"},
		{Params{Test: "am_lat", Setup: Setup{Lanes: 17}}, "--lanes 17"},
		{Params{Test: "am_lat", Setup: Setup{CPUs: "x"}}, `cpu "x"`},
	} {
		err := c.p.Validate()
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	p := Params{Test: "ucp_am_bw", Size: 16 << 20, Warmup: DefaultWarmup, Verify: true}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if p.Test != "am_bw" || p.Iterations != 512 || p.Warmup != 512 || p.Outstanding != 16 || p.Percentile != 50 || p.Transport != "tcp" {
		t.Errorf("%+v", p)
	}
	if n := DefaultIterations(8); n != 1_000_000 {
		t.Error(n)
	}
	if n := DefaultIterations(1 << 30); n != 10 {
		t.Error(n)
	}
}

func TestValidatePairs(t *testing.T) {
	bw := Params{Test: "am_bw", Size: 8}
	for _, c := range []struct {
		p    PairParams
		want string
	}{
		{PairParams{Params: bw}, ""},
		{PairParams{Params: Params{Test: "am_lat"}}, ""},
		{PairParams{Params: Params{Test: "get", Size: 8}}, ""},
		{PairParams{Params: Params{Test: "get", Size: 8, Outstanding: 2}}, "at least 32"},
		{PairParams{Params: bw, Pairs: 199}, "--pairs 199"},
		{PairParams{Params: bw, Block: time.Nanosecond}, "--block 1ns"},
		{PairParams{Params: Params{Test: "am_bw", Outstanding: 16}}, "at least 32"},
		{PairParams{Params: Params{Test: "am_bw", Verify: true}}, "a run of its own"},
	} {
		err := c.p.Validate()
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}

// TestCostIsOfTheFirst: above 1, and above 0, is what the first mode costs.
func TestCostIsOfTheFirst(t *testing.T) {
	ratio, delta := costOf([2]time.Duration{3 * time.Microsecond, 2 * time.Microsecond}, 100)
	if !near(ratio, 1.5) || !near(delta, 10) {
		t.Errorf("%v, %v ns", ratio, delta)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }

// TestWhatIsALatency: half of a round trip, or the whole way there and back while there are no others.
func TestWhatIsALatency(t *testing.T) {
	for _, c := range []struct {
		test   string
		window int
		factor float64
		is     bool
	}{{"am_lat", 1, 2, true}, {"get", 1, 1, true}, {"get", 2, 1, false}, {"am_bw", 1, 1, false}} {
		p := Params{Test: c.test, Outstanding: c.window}
		if m := newMeter(&p, nil); m.Factor() != c.factor || p.IsLatency() != c.is {
			t.Errorf("%+v: %v, %v", c, m.Factor(), p.IsLatency())
		}
	}
}

func TestStretchOfGets(t *testing.T) {
	for window, want := range map[int]int{1: 1, 32: 1024} {
		cl := Params{Test: "get", Size: 8, Outstanding: window}
		if got := cl.Stretch(); got != want {
			t.Errorf("window %d: %d", window, got)
		}
	}
}

// A stretch that measures next to nothing, or whose clock call is a tenth of it, measures the clock.
func TestStretch(t *testing.T) {
	for _, c := range []struct{ size, window, want int }{{8, 32, 1024}, {1 << 20, 32, 32}, {16 << 20, 4, 4}, {4096, 32, 256}, {8, 1000, 2000}} {
		cl := Params{Size: c.size, Outstanding: c.window}
		if got := cl.Stretch(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
