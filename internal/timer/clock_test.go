package timer_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/timer"
)

// TestClock: each turn has the time, unless turns are so dense that it does not matter; and never is it older than what four such take.
func TestClock(t *testing.T) {
	var now, seen time.Duration
	reads := 0
	c := timer.Clock{Now: func() time.Duration { reads++; return now }}
	turns := func(n int, each, most time.Duration) (read int) {
		t.Helper()
		reads = 0
		for range n {
			now += each
			if seen = c.Tick(seen); now-seen > most {
				t.Fatalf("turns of %v: the time is %v old", each, now-seen)
			}
		}
		return reads
	}
	if n := turns(100, 50, 0); n != 100 {
		t.Errorf("who may wait reads the clock %d times in 100 turns", n)
	}
	c.Poll(true)
	if n := turns(100, 50, 150); n != 25 {
		t.Errorf("who polls densely reads it %d times", n)
	}
	turns(8, time.Millisecond, 3*time.Millisecond) // it is found out within three turns
	if n := turns(100, time.Millisecond, 0); n != 100 {
		t.Errorf("who polls each millisecond reads it %d times", n)
	}
	turns(101, 50, 150)
	c.Poll(false)
	if n := turns(100, 50, 0); n != 100 {
		t.Errorf("who may wait again reads it %d times", n)
	}
}
