package perf_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/gather"
)

// threads starts a server of several threads, which ends by itself once each of them has served its client.
func threads(t *testing.T, n int) (addrs []string, end chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	bound, over := make(chan string, n), make(chan struct{})
	end = make(chan error, 1)
	go func() {
		defer close(over)
		end <- perf.Serve(ctx, perf.ServerParams{Listen: "127.0.0.1:0", Threads: n, Once: true, Listening: func(a string) { bound <- a }})
	}()
	t.Cleanup(func() { cancel(); <-over })
	for range n {
		select {
		case a := <-bound:
			addrs = append(addrs, a)
		case err := <-end:
			t.Fatal(err)
		}
	}
	return addrs, end
}

// TestThreads: all operations of all threads are counted, and the server's threads end when there is no further test for them.
func TestThreads(t *testing.T) {
	addrs, end := threads(t, 3)
	ctx := within(t, 2*time.Minute)
	p := perf.Params{Test: "am_bw", Size: 64, Iterations: 500, Warmup: 10, Verify: true}
	for _, run := range []struct{ n, more int }{{3, 2}, {1, 2}, {2, 0}} { // as -T 3,1,2
		r, err := perf.RunThreads(ctx, addrs[:run.n], p, run.more)
		if err != nil {
			t.Fatal(err)
		}
		if r.Broken() || r.Threads != run.n || r.Iterations != 500*run.n || !r.Verified || r.Rate <= 0 || r.Latency.P50 <= 0 || len(r.Latency.Percentiles) < 3 {
			t.Errorf("%d threads: %+v", run.n, r)
		}
	}
	select {
	case err := <-end:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the server waits on")
	}
}

// TestThreadsFail: a thread that can't begin is named, and the others don't wait for it.
func TestThreadsFail(t *testing.T) {
	addrs, _ := threads(t, 2)
	_, err := perf.RunThreads(within(t, time.Minute), []string{addrs[0], "127.0.0.1:1", addrs[1]}, perf.Params{Test: "am_bw", Size: 8, Iterations: 100}, 0)
	if err == nil || !strings.Contains(err.Error(), "thread 1:") || strings.Contains(err.Error(), "thread 0:") {
		t.Errorf("%v", err)
	}
	for text, addrs := range map[string][]string{"-T 0": nil, "-T 65": make([]string, 65)} {
		if _, err := perf.RunThreads(within(t, time.Minute), addrs, perf.Params{Test: "am_bw", Size: 8}, 0); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, s := range []perf.ServerParams{{Threads: -1}, {Threads: 2, Setup: perf.Setup{CPUs: "0"}}, {Threads: 2, Listen: "127.0.0.1:http"}} {
		if err := perf.Serve(within(t, time.Minute), s); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestLists: each test that has lists, on either side, at sizes at which package iov does something else.
func TestLists(t *testing.T) {
	for _, shared := range []bool{false, true} {
		addr := serve(t, perf.ServerParams{Setup: perf.Setup{Shared: shared}})
		for _, sizes := range [][]int{{8}, {3, 0, 5, 1000}, {70_000, 8, 300_000}, {8192, 8192, 8192}} {
			for _, c := range []struct {
				test        string
				here, there bool
			}{{"am_bw", true, false}, {"put_bw", true, false}, {"get", true, false}, {"tag_bw", true, false}, {"tag_bw", false, true}, {"tag_sync_bw", true, true}} {
				for _, verify := range []bool{false, true} {
					if testing.Short() && verify != shared {
						continue
					}
					p := perf.Params{Test: c.test, Iterations: 40, Warmup: 3, Verify: verify, Lists: gather.Layout{Sizes: sizes, Here: c.here, There: c.there}}
					p.Size, p.Shared, p.Lanes = p.Lists.Len(), shared, 2
					r, err := perf.Run(within(t, 2*time.Minute), addr, p, nil)
					if err != nil {
						t.Fatalf("%+v: %v", p, err)
					}
					if r.Broken() || r.Iterations != 40 || r.Outstanding != 1 || len(r.Pieces) != len(sizes) {
						t.Errorf("%+v: %+v", p, r)
					}
				}
			}
		}
	}
}
