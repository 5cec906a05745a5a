package perf

import (
	"fmt"

	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// pass writes operation seq to the stream.
func (c *client) pass(seq uint64) error {
	if c.p.Verify {
		pattern.Fill(c.body, pattern.Base(seq, false))
	}
	return c.giver.Write(c.body)
}

// hopStream is one round trip.
func (c *client) hopStream(seq uint64) error {
	if err := c.pass(seq); err != nil {
		return err
	}
	if c.back == nil {
		c.back = make([]byte, len(c.body))
	}
	if err := c.giver.Read(c.back); err != nil {
		return err
	}
	if c.ledger != nil {
		c.ledger.Numbered(seq, c.back, true)
	}
	return nil
}

// pour writes n operations, and waits until the server has read them.
func (c *client) pour(n int, m *meter.Meter) error {
	stretch := c.p.Stretch()
	for done := 0; done < n; {
		k := min(stretch, n-done)
		for range k {
			if err := c.pass(c.seq); err != nil {
				return fmt.Errorf("operation %d: %w", c.seq, err)
			}
			c.seq++
			c.completed()
		}
		done += k
		if done == n {
			if _, err := c.ask(note.Note{Kind: note.Check, Count: c.seq}, note.Checked); err != nil {
				return err
			}
		}
		m.Lap(k)
	}
	return nil
}
