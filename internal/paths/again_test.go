package paths

import (
	"log/slog"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/topo"
)

// TestAgain: a listener that hangs up without a word is tried again, later each time but each half a second at least, until the time for a dial is over; not all who
// are turned away come back at once.
func TestAgain(t *testing.T) {
	for _, luck := range []uint64{0, 7_000_003} {
		h := &host{t: t}
		h.g = &Ground{View: topo.View{Rails: rails("10.0.0.1/24")}, Turns: &h.turns, Now: func() time.Duration { return h.now }, Rand: func() uint64 { return luck },
			Most: 16, Handshake: 2 * time.Second, RedialMin: 20 * time.Millisecond, RedialMax: 5 * time.Second, Log: slog.New(slog.DiscardHandler)}
		h.now = time.Hour
		ways, err := Ways(h.g, net0{}, func(string) *Path { return nil }, []string{"10.0.0.9:7"})
		if err != nil {
			t.Fatal(err)
		}
		h.s = Begin(h.g, h, ways)
		p := h.s.Next()
		var waits []time.Duration
		for {
			wait, ok := h.s.Again(p)
			if over := h.now+wait >= time.Hour+h.g.Handshake; ok == over {
				t.Fatalf("at %v, again after %v: %v", h.now-time.Hour, wait, ok)
			}
			if !ok {
				break
			}
			waits = append(waits, wait)
			h.now += wait
		}
		for i, step := range []time.Duration{20, 40, 80, 160, 320, 500, 500} {
			if step *= time.Millisecond; i < len(waits) && waits[i] != step-time.Duration(luck%uint64(step/2+1)) {
				t.Errorf("wait %d, luck %d: %v of at most %v", i, luck, waits[i], step)
			}
		}
		if len(waits) < 6 {
			t.Errorf("tried again after %v only", waits)
		}
	}
}
