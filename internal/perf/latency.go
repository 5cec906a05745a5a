package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// pingPong makes n round trips.
func (c *client) pingPong(n int, m *meter.Meter) error {
	hop := c.hopMessage
	if c.test.Offer {
		hop = c.hopOffer
	} else if c.test.Put {
		hop = c.hopPut
	} else if c.test.Tag {
		hop = c.hopTag
	} else if c.test.Stream {
		hop = c.hopStream
	}
	for i := range n {
		if err := hop(c.seq); err != nil {
			return fmt.Errorf("round trip %d: %w", c.seq, err)
		}
		c.seq++
		c.completed()
		m.Lap(1)
		if i%lookEvery == 0 { // answers that come at once leave no time to notice anything
			if err := c.alive(c.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// hopMessage is one round trip of active messages.
func (c *client) hopMessage(seq uint64) error {
	if c.p.Verify {
		binary.LittleEndian.PutUint64(c.head, seq)
		pattern.Fill(c.body, pattern.Base(seq, false))
	}
	want := c.echoes.Load() + 1
	if err := c.ep.SendAM(c.ctx, note.Data, c.head, c.body); err != nil {
		return err
	}
	for i := 1; c.echoes.Load() < want; i++ {
		if err := c.step(i); err != nil {
			return err
		}
	}
	return nil
}

// hopOffer is one of offered ones, each read by its handler. Its memory is this side's again when the server has read it, which the answer says already.
func (c *client) hopOffer(seq uint64) error {
	if c.p.Verify {
		binary.LittleEndian.PutUint64(c.head, seq)
		pattern.Fill(c.body, pattern.Base(seq, false))
	}
	want := c.echoes.Load() + 1
	r := c.offer(c.head, c.body)
	for i, done := 1, false; !done || c.echoes.Load() < want; i++ {
		if !done {
			var err error
			if done, err = r.Test(); err != nil {
				return err
			}
		}
		if err := c.step(i); err != nil {
			return err
		}
	}
	r.Release()
	return nil
}

// hopPut is one round trip of puts, whose ends are polled.
func (c *client) hopPut(seq uint64) error {
	l := &c.lane
	l.Fill(c.body, seq, c.p.Verify, false)
	if err := l.Send(c.ctx, c.ep, c.body, c.key); err != nil {
		return err
	}
	for i := 1; !l.Came(seq); i++ {
		if err := c.step(i); err != nil {
			return err
		}
	}
	l.Look(seq, c.w, true)
	return nil
}

// step is one of a loop that waits: i counts them from 1.
func (c *client) step(i int) error {
	if c.p.Sleep && i == 1 {
		c.since = time.Now()
	}
	switch {
	case c.w.Progress() == 0 && c.p.Sleep:
		if err := c.patience(0); err != nil { // the turn before may have brought the end of the endpoint, and nothing wakes after that
			return err
		}
		// Without a context, which would cost an allocation: an interruption wakes the worker. Timers of the library do each second or so.
		return c.w.Sleep(context.Background())
	case i%lookEvery == 0:
		return c.patience(i)
	}
	return nil
}

// patience is for loops that wait: polls counts theirs, and it is called each lookEvery of them.
func (c *client) patience(polls int) error {
	if err := c.alive(c.ctx); err != nil {
		return err
	}
	if polls == lookEvery && !c.p.Sleep {
		c.since = time.Now()
	} else if time.Since(c.since) > stalledAfter {
		return errStalled
	}
	return nil
}
