package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// tagged is a message with a tag that a side sends: its number stands in front.
type tagged struct {
	tag      uint64
	data     []byte // what it is
	buf      []byte // what was posted: spoiled once it is the user's again
	r        *request.Request
	sync     bool
	canceled bool
	ended    bool
	err      error
	received int
}

// wanted is a receive of a side.
type wanted struct {
	want     match.Want
	buf      []byte
	r        *request.Request
	canceled bool
	ended    bool
	msg      int // what it got, -1: nothing
}

// tagger is one side's tagged messages.
type tagger struct {
	*side
	sends    []*tagged
	receives []*wanted
}

func (t *tagger) send() {
	w := t.w
	n := []int{0, 1, 30, 33, 500, 3000, 3001, 9000, 40_000}[w.n(9)]
	m := &tagged{tag: uint64(w.n(6)), data: make([]byte, 4+n), sync: w.n(3) == 0}
	binary.LittleEndian.PutUint32(m.data, uint32(len(t.sends)))
	for i := range n {
		m.data[4+i] = byte(i*7 + len(t.sends))
	}
	m.buf = bytes.Clone(m.data)
	r, err := t.eng.Tags().Send(t.ep.Box(), m.tag, m.buf, m.sync)
	if errors.Is(err, outcome.ErrBackPressure) {
		return
	}
	if m.r, m.err = r, err; r == nil {
		t.sent(m)
	}
	t.sends = append(t.sends, m)
}

func (t *tagger) sent(m *tagged) {
	m.ended = true
	for i := range m.buf {
		m.buf[i] = spoiled
	}
}

func (t *tagger) receive(mask uint64, room int) {
	x := &wanted{want: match.Want{Tag: uint64(t.w.n(6)), Mask: mask}, buf: make([]byte, room), msg: -1}
	if t.w.n(3) == 0 {
		x.want.From = t.ep.Box()
	}
	r, err := t.eng.Tags().PostReceive(x.buf, x.want)
	if err != nil {
		t.w.failf("%s: receive: %v", t.name, err)
		return
	}
	x.r = r
	t.receives = append(t.receives, x)
}

// look sees what has ended.
func (t *tagger) look(peer *tagger) {
	for _, m := range t.sends {
		if !m.ended && m.r.Reported {
			m.err = m.r.Err
			t.eng.Release(m.r)
			t.sent(m)
		}
	}
	for _, x := range t.receives {
		if !x.ended && x.r.Reported {
			t.got(peer, x)
			t.eng.Release(x.r)
		}
	}
}

// got looks at what a receive has ended with.
func (t *tagger) got(peer *tagger, x *wanted) {
	x.ended = true
	err := x.r.Err
	if err != nil && !errors.Is(err, outcome.ErrTruncated) {
		if gone := errors.Is(err, outcome.ErrCanceled); !gone {
			t.w.failf("%s: a receive ended with %v", t.name, err)
		}
		clear(x.buf)
		return
	}
	if len(x.buf) < 4 {
		t.w.failf("a receive of %d bytes", len(x.buf))
		return
	}
	x.msg = int(binary.LittleEndian.Uint32(x.buf))
	if x.msg >= len(peer.sends) {
		t.w.failf("%s: message %d was never sent", t.name, x.msg)
		return
	}
	m := peer.sends[x.msg]
	m.received++
	n := min(len(x.buf), len(m.data))
	switch {
	case m.received > 1:
		t.w.failf("%s: message %d was received %d times", t.name, x.msg, m.received)
	case x.r.Tag != m.tag || x.r.Size != uint64(len(m.data)) || !x.want.Takes(m.tag, x.want.From):
		t.w.failf("%s: message %d with tag %d of %d bytes came as %d, %d, for %+v", t.name, x.msg, m.tag, len(m.data), x.r.Tag, x.r.Size, x.want)
	case !bytes.Equal(x.buf[:n], m.data[:n]) || !bytes.Equal(x.buf[n:], make([]byte, len(x.buf)-n)):
		t.w.failf("%s: message %d of %d bytes differs", t.name, x.msg, len(m.data))
	case (n < len(m.data)) != (err != nil):
		t.w.failf("%s: message %d of %d bytes, %d came: %v", t.name, x.msg, len(m.data), n, err)
	case m.ended && m.err != nil && fate(m.err) == outcome.NotExecuted:
		t.w.failf("%s: message %d was received although its sender was told that it was not", t.name, x.msg)
	}
}

// giveUpSome cancels or abandons one of what is under way.
func (t *tagger) giveUpSome() {
	if n := len(t.sends); n > 0 {
		if m := t.sends[t.w.n(n)]; !m.ended {
			m.canceled = true
			if t.impatient(m.r) {
				m.err = outcome.As("tag send", "", outcome.Unknown, context.DeadlineExceeded)
				t.sent(m)
			}
		}
	}
	if n := len(t.receives); n > 0 {
		if x := t.receives[t.w.n(n)]; !x.ended {
			x.canceled = true
			if t.impatient(x.r) {
				x.ended = true
				clear(x.buf)
			}
		}
	}
}

// check looks at all of it in the end.
func (t *tagger) check(peer *tagger) {
	w := t.w
	last := map[match.Want]int{}
	for i, x := range t.receives {
		if x.msg < 0 {
			if !bytes.Equal(x.buf, make([]byte, len(x.buf))) {
				w.failf("%s: receive %d was written to after its end", t.name, i)
			}
			continue
		}
		if before, ok := last[x.want]; ok && x.msg < before {
			w.failf("%s: receive %d got message %d, an earlier one %d", t.name, i, x.msg, before)
		}
		last[x.want] = x.msg
	}
	for i, m := range t.sends {
		switch sure := !m.canceled && !peer.gaveUp(); {
		case m.err != nil && !m.canceled && !errors.Is(m.err, outcome.ErrCanceled):
			w.failf("%s: message %d ended with %v", t.name, i, m.err)
		case m.received != 1 && sure:
			w.failf("%s: message %d was received %d times", t.name, i, m.received)
		case m.received > 0 && m.err != nil && fate(m.err) == outcome.NotExecuted:
			w.failf("%s: message %d was received, and its end is %v", t.name, i, m.err)
		}
	}
	if r, m := t.eng.Tags().Left(); r+m > 0 {
		w.failf("%s: %d receives and %d messages are left", t.name, r, m)
	}
}

// gaveUp says whether a message may have gone to a receive that was given up while it read.
func (t *tagger) gaveUp() bool {
	for _, x := range t.receives {
		if x.canceled && x.msg < 0 {
			return true
		}
	}
	return false
}

// runTags is one seed.
func runTags(seed uint64) *world {
	s := shapeOf(seed)
	s.config.Eager = 3000
	s.config.Rendezvous = 1 + int(seed%2)
	w := newWorld(seed, s)
	if !w.connect() {
		return w
	}
	w.plan()
	a, b := &tagger{side: w.a}, &tagger{side: w.b}
	a.fillTags(b)
	if len(w.fails) > 0 {
		return w
	}
	a.drain(b)
	if len(w.fails) == 0 {
		a.check(b)
		b.check(a)
		w.close()
	}
	return w
}

// fillTags has both sides send and receive, with faults.
func (t *tagger) fillTags(peer *tagger) {
	w := t.w
	both := [2]*tagger{t, peer}
	gives := w.n(2) == 0
	done := func() bool { return len(t.sends) >= w.ops && len(peer.sends) >= w.ops }
	w.until(5*time.Second, func() bool {
		for i, s := range both {
			for range w.n(3) {
				if len(s.sends) < w.ops {
					s.send()
				}
			}
			for range w.n(3) {
				if open := len(s.receives) - s.gotten(); len(s.receives) < w.ops/2 && open < 20 {
					s.receive([]uint64{match.All, match.All, 0, 1, 6}[w.n(5)], 4+w.n(4)*3000)
				}
			}
			if gives && w.n(25) == 0 {
				s.giveUpSome()
			}
			if ls := s.ep.Lanes(); w.n(15) == 0 && len(ls) > 0 {
				s.ep.Box().Prefer(ls[w.n(len(ls))].Instance.String())
			}
			s.look(both[1-i])
			if _, waiting := s.eng.Tags().Left(); uint64(waiting) > w.config.Backlog/wire.MessageCost(8, 0)+1 {
				w.failf("%s: %d messages wait, for at most %d bytes", s.name, waiting, w.config.Backlog)
			}
		}
		return done()
	})
	if len(w.fails) == 0 && w.net.Now() == 0 {
		w.failf("no time has passed")
	}
}

func (t *tagger) gotten() (n int) {
	for _, x := range t.receives {
		if x.ended {
			n++
		}
	}
	return n
}

// drain receives what is left, of both sides.
func (t *tagger) drain(peer *tagger) {
	w := t.w
	both := [2]*tagger{t, peer}
	over := func() bool {
		for i, s := range both {
			if open := len(s.receives) - s.gotten(); open == 0 {
				if u := s.eng.Tags().Probe(match.Want{}); u != nil {
					s.receive(0, 50_000)
				}
			}
			s.look(both[1-i])
		}
		for _, s := range both {
			for _, m := range s.sends {
				if !m.ended {
					return false
				}
			}
			if s.ep.Idle() != nil || s.eng.Tags().Probe(match.Want{}) != nil {
				return false
			}
		}
		return true
	}
	for _, s := range both { // wants that nothing may come for any more
		for _, x := range s.receives {
			if !x.ended {
				x.canceled = x.canceled || x.r.Node == nil
				s.eng.Cancel(x.r)
			}
		}
	}
	if !w.until(60*time.Second, over) {
		w.failf("did not end: %v, %v; %d of %d and %d of %d messages sent", t.ep.Idle(), peer.ep.Idle(), len(t.sends), w.ops, len(peer.sends), w.ops)
		return
	}
	for i, s := range both {
		s.look(both[1-i])
		s.flush()
	}
	if !w.until(40*time.Second, func() bool { return len(w.a.flushes)+len(w.b.flushes) == 0 }) {
		w.failf("last flushes did not end")
	}
}

// TestTags: tagged messages of any size, expected or not, canceled or not, are each received once, or their sender knows better, in order for each
// want, whatever happens to lanes.
func TestTags(t *testing.T) { eachSeed(t, 150, 2, runTags) }
