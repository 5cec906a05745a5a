package life

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

// TestLife: every state with every event.
func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", Table.Matrix()) }
