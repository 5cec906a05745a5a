//go:build !race

package soft_test

import (
	"testing"

	"github.com/openbraid/braid/rdma/soft/fabric"
)

// TestNoAllocations: once everything has its size, an operation allocates nothing.
func TestNoAllocations(t *testing.T) {
	for _, n := range []int{0, 8, 4096, 100000} {
		w := newWorld(1, fabric.Config{})
		l := connect(t, w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), 1<<20)
		once := func() {
			l.post(t, 0, n)
			for l.turn(t, 0) == 0 {
			}
		}
		for range 200 {
			once()
		}
		if got := testing.AllocsPerRun(500, once); got != 0 {
			t.Errorf("%d bytes: %v allocations", n, got)
		}
	}
}
