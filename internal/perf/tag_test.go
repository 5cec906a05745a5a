package perf

import (
	"testing"

	"github.com/openbraid/braid/internal/perf/ledger"
)

// TestPlaces: receives share their memory, as those of ucx_perftest do, unless somebody looks at what came.
func TestPlaces(t *testing.T) {
	for _, looked := range []bool{false, true} {
		ses := &session{size: 100}
		if looked {
			ses.ledger = ledger.New(4)
		}
		places := ses.places(4)
		for i, b := range places {
			if shared := &b[0] == &places[0][0]; len(b) != 100 || i > 0 && shared == looked {
				t.Errorf("looked at: %v; receive %d has %d bytes, those of the first one: %v", looked, i, len(b), shared)
			}
		}
	}
}
