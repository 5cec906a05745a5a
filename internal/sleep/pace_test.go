package sleep

import (
	"testing"
	"time"
)

// TestYieldAgain: how often who polls lets others have the processor follows from how long it was gone.
func TestYieldAgain(t *testing.T) {
	for _, c := range []struct {
		every uint32
		took  time.Duration
		want  uint32
	}{
		{1, time.Microsecond, 2},                     // nobody is here: half as often
		{yieldSeldom, time.Microsecond, yieldSeldom}, // but never less than that
		{yieldSeldom, 20 * time.Microsecond, 1},      // a peer is
		{1, 20 * time.Microsecond, 1},                // still
		{1, 3 * time.Millisecond, yieldFirst},        // a stranger computes
		{yieldSeldom, 3 * time.Millisecond, yieldFirst},
	} {
		got := yieldAgain(c.every, c.took)
		if got != c.want {
			t.Errorf("after %d turns for %v: again after %d, want %d", c.every, c.took, got, c.want)
		}
		if got&(got-1) != 0 {
			t.Errorf("%d is no power of two, so it can't be a mask", got)
		}
	}
}

// TestWaitPolicies: when who waits goes to sleep.
func TestWaitPolicies(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		most   int // idle turns until he sleeps; -1: never
	}{{AtOnce, 1}, {Adaptive, naps}, {Poll, -1}} {
		var p Pace
		p.Init(c.policy)
		if p.Waited(1, 0) {
			t.Errorf("%v: sleeps though the turn found something", c.policy)
		}
		slept := -1
		for idle := 1; idle <= 4*naps && slept < 0; idle++ {
			if p.Waited(0, idle) {
				slept = idle
			}
		}
		// On a crowded processor the adaptive one may sleep after its first yield.
		if slept > c.most || (slept < 0) != (c.most < 0) || c.policy == Adaptive && slept <= spins {
			t.Errorf("%v: sleeps after %d idle turns, want at most %d", c.policy, slept, c.most)
		}
	}
}
