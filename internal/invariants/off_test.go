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

// word is a state, or an event.
type word string

func (w word) String() string { return string(w) }

// TestRequireFree: without the tag nothing is required.
func TestRequireFree(t *testing.T) { Require(false, "life", word("ready"), word("settled")) }
