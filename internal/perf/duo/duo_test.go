package duo

import (
	"context"
	"testing"
	"time"
)

// Each transport carries the loop, and a fence in it.
func TestPuts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for kind, lanes := range map[string]int{"tcp": 2, "rc": 2, "shm": 1} {
		d, err := New(ctx, kind, lanes)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		n := 0
		if ns, err := d.Puts(200, func() error { n++; d.Endpoint.Fence(); return nil }); err != nil || ns <= 0 || n != 200 {
			t.Errorf("%s: %v ns, %d fences, %v", kind, ns, n, err)
		}
		d.Close()
	}
}

// TestMany: each transport carries messages over one and over all of several endpoints.
func TestMany(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, kind := range []string{"tcp", "shm"} {
		m, err := NewMany(kind)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, n := range []int{1, 5} {
			if err := m.Grow(ctx, n); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			for _, all := range []bool{false, true} {
				if us, per := m.Hop(100, all), m.Rate(200, all); us <= 0 || per <= 0 {
					t.Errorf("%s, %d: %v us, %v a second", kind, n, us, per)
				}
			}
		}
		m.Close()
	}
	if n, err := Resident(); err != nil || n < 1<<20 {
		t.Logf("%d bytes: %v", n, err)
	}
}
