package share

import (
	"fmt"
	"os"
	"testing"
)

// Part is one of so many.
type Part struct{ this, of int }

// Of reads BRAID_PART; without it there is one part, the whole. What is no part fails the test.
func Of(t testing.TB) Part {
	t.Helper()
	v := os.Getenv("BRAID_PART")
	if v == "" {
		return Part{1, 1}
	}
	var p Part
	if n, err := fmt.Sscanf(v, "%d/%d", &p.this, &p.of); n != 2 || err != nil || p.this < 1 || p.this > p.of {
		t.Fatalf("BRAID_PART=%q: 3/16 is the third of sixteen parts", v)
	}
	return p
}

// Has is of the i-th of the list, from 0.
func (p Part) Has(i int) bool { return i%p.of == p.this-1 }

func (p Part) String() string { return fmt.Sprintf("part %d of %d", p.this, p.of) }
