package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// eachSeed runs seeds, BRAID_SEEDS of them by share, or only BRAID_SEED: the first 500 twice, and of the rest each eighth, for where something inside
// looks at a clock it is so in most of them. Worlds share nothing, so each processor has one. It ends when
// five seeds have failed, with -failfast when one has: whoever is broken so that others never end is known by that.
func eachSeed(t *testing.T, n, share int, run func(seed uint64) *world) {
	t.Helper()
	first := uint64(1)
	if testing.Short() {
		n = min(n, 50)
	}
	if v := os.Getenv("BRAID_SEEDS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			t.Fatalf("BRAID_SEEDS=%q: %v", v, err)
		}
		n = (n + share - 1) / share
	}
	if v := os.Getenv("BRAID_SEED"); v != "" {
		if _, err := fmt.Sscan(v, &first); err != nil {
			t.Fatalf("BRAID_SEED=%q: %v", v, err)
		}
		n = 1
	}
	enough := int64(5)
	if f := flag.Lookup("test.failfast"); f != nil && f.Value.String() == "true" {
		enough = 1
	}
	var next, failed atomic.Int64
	var all sync.WaitGroup
	var tell sync.Mutex // nobody does when the test is over
	over := make(chan struct{})
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for failed.Load() < enough {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				seed := first + uint64(i)
				if wrong := try(seed, run, i < 500 || i%8 == 0); wrong != "" {
					tell.Lock()
					k := failed.Add(1)
					if k <= enough {
						t.Errorf("BRAID_SEED=%d go test ./test/sim -run %s\n%s", seed, t.Name(), wrong)
					}
					if k == enough {
						close(over)
					}
					tell.Unlock()
				}
			}
		})
	}
	go func() {
		all.Wait()
		if failed.Load() < enough {
			close(over)
		}
	}()
	<-over
}

// try runs a seed, and again, if it is to be and nothing was wrong: what is, or "".
func try(seed uint64, run func(seed uint64) *world, again bool) (wrong string) {
	defer func() {
		if r := recover(); r != nil {
			wrong = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	w := run(seed)
	if len(w.fails) > 0 {
		return w.report()
	}
	if again && run(seed).hash() != w.hash() {
		return "two runs differ"
	}
	return ""
}
