package worker_test

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
)

// TestLives: every state with every event.
func TestLives(t *testing.T) {
	golden.Same(t, "testdata/endpoint.life", life.Table.Matrix())
	golden.Same(t, "testdata/lane.life", lane.Life.Matrix())
}
