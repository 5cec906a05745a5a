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
