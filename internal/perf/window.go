package perf

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/meter"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/internal/perf/puts"
)

// window is the operations that are posted and not done. A slot is free again when its operation is.
type window struct {
	c     *client
	slots []slot
}

// slot is one operation under way, with what it must not change meanwhile.
type slot struct {
	r          braid.Request
	busy       bool
	seq        uint64
	head, body []byte
	pieces     *gather.Buffers // instead of body
	was, is    uint64          // of the word that it swaps: before its operation, and behind it
}

func (c *client) window() *window {
	if c.win != nil {
		return c.win
	}
	w := &window{c: c, slots: make([]slot, c.p.Outstanding)}
	for i := range w.slots {
		s := &w.slots[i]
		s.head, s.body = c.head, c.body
		if c.p.Lists.Here {
			s.pieces = gather.New(c.p.Lists.Sizes)
		}
		if c.p.Verify {
			s.head, s.body = make([]byte, len(c.head)), make([]byte, len(c.body))
		}
	}
	c.win = w
	return w
}

// settle waits until a slot's operation is done.
func (w *window) settle(s *slot) error {
	for i := 1; s.busy; i++ {
		done, err := s.r.Test()
		if err != nil {
			return err
		}
		if done {
			w.done(s)
			return nil
		}
		if err := w.c.step(i); err != nil {
			return err
		}
	}
	return nil
}

// done is called once for each operation that has ended well.
func (w *window) done(s *slot) {
	if w.c.test.Atomic {
		w.c.fetched(s)
	}
	s.r.Release()
	s.busy = false
	w.c.completed()
	if w.c.test.Get && w.c.p.Verify {
		w.c.ledger.Answer(s.body, s.seq, w.c.slots)
	}
}

// post posts the next operation in slot i, waiting for the one before if need be.
func (w *window) post(i int) error {
	s, c := &w.slots[i], w.c
	if s.busy {
		if err := w.settle(s); err != nil {
			return err
		}
	}
	s.seq = c.seq
	c.seq++
	if s.pieces != nil {
		return c.passList(s)
	}
	switch {
	case c.test.Get:
		s.r = c.postGet(s)
	case c.test.Put:
		s.r = c.postPut(s, i)
	case c.test.Atomic:
		s.r = c.postAtomic(s, i)
	default:
		s.r = c.postMessage(s)
	}
	done, err := s.r.Test()
	s.busy = !done
	if done && err == nil {
		w.done(s)
	}
	if err != nil && errors.Is(err, braid.ErrLimit) {
		panic("perf: a post was refused for back-pressure, although the window is smaller than the queue")
	}
	return err
}

func (c *client) postPut(s *slot, i int) braid.Request {
	if c.p.Verify {
		pattern.Fill(s.body, pattern.Base(s.seq, false))
	} else {
		i = 0 // all go to one place
	}
	at := puts.Layout{Size: c.p.Size, Signals: c.test.Signal}
	if c.test.Signal {
		return c.ep.PostPutSignal(s.body, c.key, at.Offset(i), at.Signal(c.key, i, s.seq))
	}
	return c.ep.PostPut(s.body, c.key, at.Offset(i))
}

func (c *client) postMessage(s *slot) braid.Request {
	if c.p.Verify {
		pattern.Fill(s.body, pattern.Base(s.seq, false))
		binary.LittleEndian.PutUint64(s.head, s.seq)
	}
	if c.test.Tag {
		return postTag(&c.test, c.ep, s.seq, s.body)
	}
	if c.test.Offer {
		return c.offer(s.head, s.body)
	}
	return c.ep.PostAM(note.Data, s.head, s.body)
}

// offer offers a message. In a run with faults those are counted that do not go at once.
func (c *client) offer(head, body []byte) braid.Request {
	r := c.ep.PostOfferAM(note.Data, head, body)
	if i, _ := r.Info(); c.trial != nil && strings.HasPrefix(i.Protocol, "rendezvous") {
		c.offered++
	}
	return r
}

// drain waits for all of them, at the server too.
func (w *window) drain() error {
	for i := range w.slots {
		if err := w.settle(&w.slots[i]); err != nil {
			return err
		}
	}
	if w.c.test.Get || w.c.test.Fetch {
		return nil // done is done: it is here
	}
	return w.c.ep.Flush(w.c.ctx)
}

// Stretch is how many operations go between two looks at the clock: a multiple of the window, worth some microseconds, or all that there are. That is one if each is
// waited for.
func (p *Params) Stretch() int {
	o := p.Outstanding
	t, _ := catalog.Lookup(p.Test)
	switch {
	case p.IsLatency():
		return 1
	case t.Put && p.Verify:
		return p.most(o) // rounds
	}
	n := min(1024, max(1, (1<<20)/max(1, p.Size)))
	return p.most((n + o - 1) / o * o)
}

// most is n, or all operations that there are.
func (p *Params) most(n int) int {
	if p.Iterations > 0 {
		n = min(n, p.Iterations)
	}
	return n
}

// keepPosting posts n operations, a window of them at a time, and flushes.
func (c *client) keepPosting(n int, m *meter.Meter) error {
	w, stretch := c.window(), c.p.Stretch()
	for done := 0; done < n; {
		k := min(stretch, n-done)
		for j := 0; j < k; j++ {
			i := j % len(w.slots)
			if err := w.post(i); err != nil {
				return err
			}
			if i == len(w.slots)-1 {
				c.w.Progress()
			}
		}
		done += k
		if done == n {
			if err := w.drain(); err != nil {
				return err
			}
		}
		m.Lap(k)
		if err := c.alive(c.ctx); err != nil { // posts that never wait notice nothing
			return err
		}
	}
	return nil
}

// rounds is keepPosting of puts that are looked at. Each of a round has a place of its own; between two rounds the
// server looks at all places and clears them, and that time does not count.
func (c *client) rounds(n int, m *meter.Meter) error {
	w := c.window()
	for done := 0; done < n; {
		first, k := c.seq, min(len(w.slots), n-done)
		for i := range k {
			if err := w.post(i); err != nil {
				return err
			}
		}
		if err := w.drain(); err != nil {
			return err
		}
		m.Lap(k)
		done += k
		if _, err := c.ask(note.Note{Kind: note.Check, First: first, Count: uint64(k)}, note.Checked); err != nil {
			return err
		}
		m.Skip()
	}
	return nil
}
