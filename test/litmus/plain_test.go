package litmus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/transport/sim"
)

// TestPlain: what is saved hides nothing. Where the engine makes each step anew, in a world that is built for it, there are the same states and
// paths, the same states at the end, and the same rules are broken in the same ways; ~ is a fence that isn't made, so that there are such.
func TestPlain(t *testing.T) {
	for _, p := range []program{
		{"P | P", 1, 1, sim.Reset},
		{"Q | P", 2, 0, sim.Reset},
		{"M | G0", 2, 0, sim.Reset},
		{"Q C0 | A", 1, 1, sim.Reset},
		{"P @1 P", 1, 1, sim.Reset},
		{"P | R", 2, 0, sim.Reset},
		{"P ~ P", 2, 0, sim.Reset},
		{"Q ~ P F", 2, 0, sim.Reset},
		{"S ~ M", 1, 1, sim.Reset},
		{"P ~ P", 2, 1, sim.Reset},
	} {
		t.Run(fmt.Sprintf("%s over %d lanes, %s cut", p.words, p.lanes, p.cutting()), func(t *testing.T) {
			if testing.Short() && p.cuts*p.lanes > 1 {
				t.Skip("a thousand states, each made anew; go test without -short")
			}
			t.Parallel()
			var paths [2]float64
			var xs [2]*explorer
			for i := range xs {
				xs[i] = newExplorer()
				xs[i].plain, xs[i].most = i == 1, 1<<30
				paths[i] = xs[i].explore(p)
			}
			kept, plain := xs[0], xs[1]
			switch {
			case paths[0] != paths[1] || !maps.Equal(kept.paths, plain.paths):
				t.Errorf("%d states and %g paths; %d and %g when each step is run", len(kept.paths), paths[0], len(plain.paths), paths[1])
			case !slices.Equal(kept.violations, plain.violations):
				t.Errorf("%d times a rule is broken; %d times when each step is run", len(kept.violations), len(plain.violations))
			case kept.ran >= plain.ran:
				t.Errorf("the engine makes %d steps instead of %d: nothing is saved", kept.ran, plain.ran)
			}
			t.Logf("%d states, %g paths, %d violations; %d steps by the engine instead of %d", len(plain.paths), paths[1], len(plain.violations), kept.ran, plain.ran)
			if broken := strings.Contains(p.words, "~"); broken != (len(plain.violations) > 0) {
				t.Errorf("%d violations", len(plain.violations))
			}
		})
	}
}
