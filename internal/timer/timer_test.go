package timer

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOrderStopAndSetAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set Set
		type due struct {
			at  time.Duration
			seq int
		}
		want, ran, seq := map[int]due{}, []int{}, 0
		ts := make([]*Timer, 8)
		for i := range ts {
			ts[i] = New(func() { ran = append(ran, i) })
		}
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(ts)-1).Draw(t, "timer")
			switch rapid.IntRange(0, 3).Draw(t, "verb") {
			case 0, 1:
				at := now + time.Duration(rapid.IntRange(0, 20).Draw(t, "after"))
				set.Set(ts[i], at)
				seq++
				want[i] = due{at, seq}
			case 2:
				set.Stop(ts[i])
				delete(want, i)
			case 3:
				now += time.Duration(rapid.IntRange(0, 10).Draw(t, "pass"))
				var expect []int
				for k, d := range want {
					if d.at <= now {
						expect = append(expect, k)
					}
				}
				slices.SortFunc(expect, func(a, b int) int {
					if d := want[a].at - want[b].at; d != 0 {
						return int(d)
					}
					return want[a].seq - want[b].seq
				})
				for _, k := range expect {
					delete(want, k)
				}
				ran = nil
				if n := set.Run(now); n != len(expect) || !slices.Equal(ran, expect) {
					t.Fatalf("ran %v, want %v", ran, expect)
				}
			}
			if ts[i].Pending() != (want[i] != due{}) {
				t.Fatalf("timer %d pending: %v", i, ts[i].Pending())
			}
			first := time.Duration(0)
			for _, d := range want {
				if first == 0 || max(1, d.at) < first {
					first = max(1, d.at)
				}
			}
			if set.Next() != first {
				t.Fatalf("next %v, want %v", set.Next(), first)
			}
		}
	})
}

func TestSetFromInsideRun(t *testing.T) {
	var set Set
	n := 0
	var again *Timer
	again = New(func() {
		if n++; n < 3 {
			set.Set(again, 5)
		}
	})
	set.Set(again, 1)
	if set.Run(5); n != 3 {
		t.Fatalf("ran %d times", n)
	}
}
