package self_test

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

// TestNoAllocation: data, control, zero-copy with and without a place; busy, and from idle to busy.
func TestNoAllocation(t *testing.T) {
	c := newCouple(t)
	c.y.reply = &transport.Frame{ID: 2, Class: transport.Control, Payload: make([]byte, 100)}
	large := make([]byte, 100_000)
	c.y.place = make([]byte, 50_000)
	frames := []transport.Frame{
		{ID: 1, Payload: large[:8], Done: c.x},
		{ID: 1, Head: large[:32], Payload: large[:3000], Done: c.x},
		{ID: 1, Head: large[:32], Payload: large[:50_000], ZeroCopy: true, Done: c.x},
		{ID: 1, Head: large[:32], Payload: large, ZeroCopy: true, Done: c.x},
	}
	round := func() {
		for range 20 {
			for i := range frames {
				if st := c.x.ep.Post(&frames[i]); st > transport.Pending {
					t.Fatal(st)
				}
			}
			c.Flush()
			c.Progress()
		}
		for c.Progress() > 0 {
			c.Flush()
		}
		c.Deadline()
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(50, round); n >= 1 {
		t.Errorf("%v allocations per 80 frames and 80 answers, want 0", n)
	}
	if c.x.executed == 0 || c.x.got != c.x.executed {
		t.Errorf("%d executed, %d answers", c.x.executed, c.x.got)
	}
}
