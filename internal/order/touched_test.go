package order

import (
	"testing"

	"pgregory.net/rapid"
)

// What is noted of regions is never too early: a flush of memory may wait for too much, and not for too little. Replays are older than what was posted
// before them.
func TestTouchedNeverTooEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var touched Touched
		var p Place
		last := map[uint32]uint64{} // what is at the place
		var alive []mark
		epoch := uint64(1)
		t.Repeat(map[string]func(*rapid.T){
			"post": func(t *rapid.T) {
				region := rapid.Uint32Range(0, 12).Draw(t, "region")
				e := epoch
				if rapid.Bool().Draw(t, "fence") {
					epoch++
					e = epoch
				} else if rapid.Bool().Draw(t, "replay") {
					e = rapid.Uint64Range(1, epoch).Draw(t, "epoch")
				}
				p.Enter(e)
				alive = append(alive, mark{region, e})
				if !touched.Is(region, e) {
					touched.Note(region, e, p.First())
				}
			},
			"leave": func(t *rapid.T) {
				if len(alive) == 0 {
					return
				}
				i := rapid.IntRange(0, len(alive)-1).Draw(t, "which")
				p.Leave(alive[i].epoch)
				alive = append(alive[:i:i], alive[i+1:]...)
			},
			"": func(t *rapid.T) {
				clear(last)
				for _, m := range alive {
					last[m.region] = max(last[m.region], m.epoch)
				}
				for region, e := range last {
					if got := touched.Last(region); got < e {
						t.Fatalf("region %d: last %d, and something of %d is there", region, got, e)
					}
				}
			},
		})
	})
}
