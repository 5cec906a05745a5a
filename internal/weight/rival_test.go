package weight_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/weight"
)

// TestRival: a lane must be better for a while, without a break, and the last move be long enough ago.
func TestRival(t *testing.T) {
	var r weight.Rival[string]
	for _, s := range []struct {
		at     time.Duration
		better string
		moves  bool
	}{
		{1000, "b", false}, {1249, "b", false}, {1250, "b", true}, // long enough
		{1300, "", false}, {1400, "a", false}, {1700, "a", false}, {2249, "a", false}, {2250, "a", true}, // but not so soon again
		{4000, "b", false}, {4200, "c", false}, {4400, "c", false}, {4450, "c", true}, // which one counts
		{6000, "a", false}, {6200, "", false}, {6300, "a", false}, {6549, "a", false}, {6550, "a", true}, // and that it never was not
	} {
		if moves := r.Decide(s.at*time.Millisecond, s.better); moves != s.moves {
			t.Errorf("at %d ms, %q is better: moves %v", s.at, s.better, moves)
		}
	}
}
