package perf

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// spot is where a put goes whose end is polled: so that its last eight bytes are an aligned word.
//
//	room:  | offset | payload ... | counter |
type spot struct {
	room    int    // bytes of memory
	offset  uint64 // of the payload
	counter uint64 // of the word at its end
}

func spotOf(size int) spot {
	room := max(pattern.WordLen, (size+pattern.WordLen-1)/pattern.WordLen*pattern.WordLen)
	return spot{room: room, offset: uint64(room - size), counter: uint64(room - pattern.WordLen)}
}

// pingPong makes n round trips.
func (c *client) pingPong(n int, m *meter.Meter) error {
	hop := c.hopMessage
	if c.test.Put {
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

// hopPut is one round trip of puts: the end of each payload is a counter, and the other side polls it.
func (c *client) hopPut(seq uint64) error {
	mark := seq + 1
	if c.p.Verify {
		pattern.Fill(c.body, pattern.Base(seq, false))
	}
	binary.LittleEndian.PutUint64(c.body[len(c.body)-pattern.WordLen:], mark)
	if err := c.ep.Put(c.ctx, c.body, c.key, c.spot.offset); err != nil {
		return err
	}
	for i := 1; c.mem.Load64(c.spot.counter) != mark; i++ {
		if err := c.step(i); err != nil {
			return err
		}
	}
	if c.p.Verify {
		landed(c.ledger, c.w, c.mem.Bytes()[c.spot.offset:c.spot.counter], pattern.Base(seq, true))
		c.ledger.Note(seq)
	}
	return nil
}

// landed checks a put whose counter was seen. The pieces of a large one come in any order, so the rest gets some time.
func landed(l *ledger.Ledger, w *braid.Worker, got []byte, want uint64) {
	var begun time.Time
	for !pattern.Filled(got, want) {
		if begun.IsZero() {
			begun = time.Now()
		} else if time.Since(begun) > time.Second {
			l.Corrupt++
			return
		}
		w.Progress()
	}
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
