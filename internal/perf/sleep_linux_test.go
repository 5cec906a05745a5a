package perf

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"golang.org/x/sys/unix"
)

// processor is the time that this process has run.
func processor(t *testing.T) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Who sleeps while he waits is woken by an interruption, and needs no timer for it. He needs no processor while he sleeps.
func TestSleepIsInterrupted(t *testing.T) {
	addr := spoiled(t, func(*session) {}) // answers no put
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	time.AfterFunc(time.Second, func() { cancel(why) })
	p := Params{Test: "put_lat", Size: 8, Iterations: 5}
	p.Sleep, p.Settings = true, &braid.Settings{}
	for name, value := range map[string]string{"keepalive": "1h", "peer-timeout": "2h"} {
		if err := p.Settings.Set(name, value, "test"); err != nil {
			t.Fatal(err)
		}
	}
	begun, used := time.Now(), processor(t)
	if _, err := Run(ctx, addr, p, nil); !errors.Is(err, why) || time.Since(begun) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	if used = processor(t) - used; used > 200*time.Millisecond {
		t.Errorf("asleep, and used a processor for %v", used)
	}
}
