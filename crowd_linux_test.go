package braid_test

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
)

// Many endpoints, and many one after the other. `go run ./bench --only crowd` has the whole sizes, and prints what each costs.

// TestC4_DialsAtOnce: 64 goroutines dial one peer at once, after they have lost it: each has an endpoint of its own, that carries what it says and nobody else's.
func TestC4_DialsAtOnce(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	const dialers = 64
	p := connect(t, braid.Options{}, braid.Options{})
	p.bw.HandleAM(1, func(m *braid.Message) { m.Endpoint().PostAM(2, nil, m.Payload()).Release() })
	var mu sync.Mutex
	answers := map[*braid.Endpoint][]uint64{}
	p.aw.HandleAM(2, func(m *braid.Message) {
		mu.Lock()
		defer mu.Unlock()
		answers[m.Endpoint()] = append(answers[m.Endpoint()], binary.LittleEndian.Uint64(m.Payload()))
	})
	p.b.Abort()
	if !eventually(func() bool { return p.a.Err() != nil }) {
		t.Fatal("the peer is not found to be gone")
	}
	eps := make([]*braid.Endpoint, dialers)
	var all sync.WaitGroup
	for i := range eps {
		all.Go(func() {
			ep, err := p.aw.Dial(ctx, p.ln.Addr())
			if err != nil {
				t.Error(err)
				return
			}
			if err := ep.SendAM(ctx, 1, nil, binary.LittleEndian.AppendUint64(nil, uint64(i))); err != nil {
				t.Error(err)
			}
			eps[i] = ep
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for i, ep := range eps {
		if !eventually(func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(answers[ep]) > 0
		}) {
			t.Fatalf("dialer %d has no answer", i)
		}
		mu.Lock()
		if got := answers[ep]; len(got) != 1 || got[0] != uint64(i) {
			t.Errorf("dialer %d got the answers %v", i, got)
		}
		mu.Unlock()
	}
	if n := len(slices.Collect(p.aw.Endpoints())); n != dialers+1 { // and the one that has failed
		t.Errorf("%d endpoints", n)
	}
}

// holding is what a process holds.
type holding struct {
	descriptors, goroutines int
	heap                    uint64
}

func heldNow(t *testing.T) (c holding) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holding{len(all), runtime.NumGoroutine(), m.HeapAlloc}
}

// TestF21_ConnectClose: endpoints that come, say something and go leave nothing on either side: no descriptor, no goroutine, no memory.
func TestF21_ConnectClose(t *testing.T) {
	tidy(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const warm, cycles = 60, 250
	p := connect(t, braid.Options{}, braid.Options{})
	p.bw.HandleAM(1, func(*braid.Message) {})
	cycle := func(k int) {
		for i := range k {
			ep, err := p.aw.Dial(ctx, p.ln.Addr())
			if err != nil {
				t.Fatal(i, err)
			}
			back, err := p.ln.Accept(ctx)
			if err != nil {
				t.Fatal(i, err)
			}
			if err := ep.SendAM(ctx, 1, nil, []byte("here I am")); err != nil {
				t.Fatal(i, err)
			}
			if i%3 == 2 {
				ep.Abort()
			} else if err := ep.Close(ctx); err != nil {
				t.Fatal(i, err)
			}
			back.Abort()
		}
	}
	cycle(warm)
	before := heldNow(t)
	cycle(cycles)
	var after holding
	if !eventually(func() bool {
		after = heldNow(t)
		return after.descriptors <= before.descriptors && after.goroutines <= before.goroutines && after.heap < before.heap+256*cycles
	}) {
		t.Errorf("after %d endpoints: %+v, before them: %+v", cycles, after, before)
	}
	if a, b := len(slices.Collect(p.aw.Endpoints())), len(slices.Collect(p.bw.Endpoints())); a != 1 || b != 1 {
		t.Errorf("%d and %d endpoints are left, one each is open", a, b)
	}
}

// thread is the processor time that this thread has used: how long something takes, however busy the machine is.
func thread(t *testing.T) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

// TestC10_TurnsWhileEndpointsComeAndGo: no turn of a worker with many endpoints takes long while others come and go: 99 of 100 take less than 10 ms of a processor.
func TestC10_TurnsWhileEndpointsComeAndGo(t *testing.T) {
	tidy(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const dialers, each, cycles = 4, 50, 50
	owner, others := mustOpen(t, braid.Options{Owned: true}), mustOpen(t, braid.Options{})
	w, client := newWorker(t, owner), newWorker(t, others)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, left := ln.Addr(), make(chan struct{})
	var all sync.WaitGroup
	for range dialers {
		all.Go(func() {
			var open []*braid.Endpoint
			for range each + cycles {
				ep, err := client.Dial(ctx, addr)
				if err != nil {
					t.Error(err)
					return
				}
				if open = append(open, ep); len(open) > each {
					if err := open[0].Close(ctx); err != nil {
						t.Error(err)
					}
					open = open[1:]
				}
			}
		})
	}
	go func() { all.Wait(); close(left) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	most := 0
	for over := false; !over; {
		since := thread(t)
		if w.Progress() > 0 {
			took = append(took, thread(t)-since)
		}
		if len(took)%64 == 0 {
			most = max(most, len(slices.Collect(w.Endpoints())))
		}
		select {
		case <-left:
			over = true
		default:
		}
	}
	most = max(most, len(slices.Collect(w.Endpoints())))
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d turns with up to %d endpoints: p99 %v, longest %v", len(took), most, p99, took[len(took)-1])
	if p99 > 10*time.Millisecond && !underRace || most < dialers*each {
		t.Errorf("p99 of a turn is %v, with %d endpoints at most; %d were meant", p99, most, dialers*each)
	}
}
