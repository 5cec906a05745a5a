//go:build invariants

package worker

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/life"
)

// TestSoloNote: an event that an endpoint's life does not have in its state panics, and names both.
func TestSoloNote(t *testing.T) {
	ep := &Endpoint{}
	ep.note(life.LaneUp)
	defer func() {
		said, _ := recover().(string)
		if !strings.Contains(said, "settled in state ready") || ep.state != life.Ready {
			t.Errorf("%q, and it is %v", said, ep.state)
		}
	}()
	ep.note(life.Settled)
}
