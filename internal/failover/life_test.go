package failover

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
)

// TestMatrix: the whole life of an instance.
func TestMatrix(t *testing.T) { golden.Same(t, "testdata/matrix.txt", Matrix()) }
