package crowd

import (
	"context"
	"testing"
	"time"
)

// The measurements run, in small, and what they find is of the size that it must have. Their figures are of whole runs.
func TestSmall(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	more, each, err := Cycles(ctx, 50)
	if err != nil || each <= 0 || more.Descriptors > 4 || more.Goroutines > 4 {
		t.Errorf("%+v, %v each, %v", more, each, err)
	}
	if p50, p99, most, err := Turns(ctx, 32, 64); err != nil || p50 <= 0 || p99 < p50 || most < p99 {
		t.Error(p50, p99, most, err)
	}
	if kept, err := Unexpected(ctx, 20_000); err != nil || kept < 8 || kept > 1000 {
		t.Error(kept, err)
	}
	if alive, dead, err := Dead(ctx, 2, 2000); err != nil || len(alive) != 2 || len(dead) != 2 || dead[1] <= 0 {
		t.Error(alive, dead, err)
	}
	const most = 64<<20/256 + 5000 // a message costs 256 bytes of it at the least; those that wait at the sender
	if sent, _, err := Stopped(ctx, 2*most); err != nil || sent < 64<<20/300 || sent > most {
		t.Error(sent, err)
	}
}
