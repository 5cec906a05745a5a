package window

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", life.Matrix()) }
