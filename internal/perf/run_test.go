package perf_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf"
)

// serve starts a server in this process and returns its address. It ends with the test.
func serve(t *testing.T, p perf.ServerParams) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	addr, done := make(chan string, 1), make(chan error, 1)
	p.Listen, p.Listening = "127.0.0.1:0", func(a string) { addr <- a }
	go func() { done <- perf.Serve(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("server: %v", err)
		}
	})
	select {
	case a := <-addr:
		return a
	case err := <-done:
		done <- nil
		t.Fatal(err)
	}
	return ""
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestRun(t *testing.T) {
	const iterations = 100
	sizes := []int{8, 13, 40_000, 700_001}
	if testing.Short() {
		sizes[3] = 70_001 // more than a frame all the same: each byte that is verified takes its time under the race detector
	}
	for _, shared := range []bool{false, true} {
		addr := serve(t, perf.ServerParams{Setup: perf.Setup{Shared: shared}})
		for _, test := range []string{"am_lat", "am_bw", "am_offer_bw", "am_offer_lat", "put_lat", "put_bw", "get", "tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "stream_lat", "stream_bw"} {
			for _, size := range sizes {
				if !shared && strings.HasPrefix(test, "stream_") {
					continue // refused
				}
				if shared && test == "put_lat" && size != 8 {
					continue // refused
				}
				for _, verify := range []bool{false, true} {
					if testing.Short() && verify != shared {
						continue
					}
					name := fmt.Sprintf("%s/%d/shared=%v/verify=%v", test, size, shared, verify)
					t.Run(name, func(t *testing.T) {
						p := perf.Params{Test: test, Size: size, Iterations: iterations, Warmup: 7, Verify: verify}
						if strings.HasSuffix(test, "_lat") {
							p.Iterations = 10 // each may take time slices of a machine with few processors
						}
						if test == "get" && size != 13 {
							p.Outstanding = 7 // one by default
						}
						n := p.Iterations
						p.Shared, p.Lanes, p.ErrorMode = shared, 2, braid.Failover
						r, err := perf.Run(within(t, 2*time.Minute), addr, p, nil)
						if err != nil {
							t.Fatal(err)
						}
						if r.Broken() || r.Iterations != n || r.Lanes != 2 || r.Verified != verify || r.ErrorMode != "failover" {
							t.Errorf("%+v", r)
						}
						if !(r.Latency.P50 > 0 && r.Latency.P99 >= r.Latency.P50 && r.Latency.Max >= 0.999*r.Latency.Avg && r.Bandwidth > 0 && r.Rate > 0) {
							t.Errorf("%+v", r)
						}
					})
				}
			}
		}
	}
}

// Both ends sleep: each test comes to its end all the same, and no hop waits for a timer.
func TestSleep(t *testing.T) {
	addr := serve(t, perf.ServerParams{})
	for _, test := range []string{"am_lat", "am_bw", "put_lat", "put_bw", "get", "tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw"} {
		for _, verify := range []bool{false, true} {
			p := perf.Params{Test: test, Size: 64, Iterations: 500, Warmup: 7, Verify: verify}
			p.Sleep = true
			r, err := perf.Run(within(t, time.Minute), addr, p, nil)
			if err != nil || r.Broken() || r.Iterations != 500 || r.Wait != "sleep" {
				t.Errorf("%s, verify %v: %v, %+v", test, verify, err, r)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	addr := serve(t, perf.ServerParams{})
	p := perf.Params{Test: "am_lat", Iterations: 1}
	p.Shared = true
	if _, err := perf.Run(within(t, 10*time.Second), addr, p, nil); err == nil || !strings.Contains(err.Error(), "workers are owned") {
		t.Errorf("shared client at an owned server: %v", err)
	}
	// Nobody there.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	p.Shared = false
	if _, err := perf.Run(within(t, 10*time.Second), ln.Addr().String(), p, nil); !errors.Is(err, braid.ErrDial) {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestOnceEnds(t *testing.T) {
	addr, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- perf.Serve(context.Background(), perf.ServerParams{Listen: "127.0.0.1:0", Once: true, Listening: func(a string) { addr <- a }})
	}()
	if _, err := perf.Run(within(t, 10*time.Second), <-addr, perf.Params{Test: "am_lat", Size: 8, Iterations: 3}, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server goes on although its client has left")
	}
}
