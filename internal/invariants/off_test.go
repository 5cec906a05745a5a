//go:build !invariants

package invariants

import (
	"testing"
	"unsafe"
)

// TestFree: without the tag there is nothing.
func TestFree(t *testing.T) {
	var s Solo
	s.Enter("")
	s.Enter("")
	s.Leave()
	if n := unsafe.Sizeof(s); n != 0 {
		t.Errorf("it has %d bytes", n)
	}
}
