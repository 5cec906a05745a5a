package litmus

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
)

// watch installs what sees each effect at the target.
func (w *world) watch() {
	b := w.sides[target]
	happens := func(what byte, op, n int) {
		h := happening{what, op, n}
		w.effects = append(w.effects, h)
		w.done[op] = w.done[op].add(h)
	}
	w.region = b.mem.Add(memory.Aligned(slotSize * room))
	w.region.Watch = func(offset uint64, src []byte) {
		if len(src) > 0 { // else it is the last frame of a put with a signal
			happens('w', int(offset)/slotSize, len(src))
		}
	}
	w.words = b.mem.Add(memory.Aligned(8 * (room + 1)))
	w.words.Watch = func(offset uint64, src []byte) {
		new := binary.LittleEndian.Uint64(src)
		if offset < 8*sum {
			happens('s', int(offset)/8, int(new))
			return
		}
		happens('a', bits.TrailingZeros64(new-w.sum)/8, 1)
		w.sum = new
	}
	b.eng.Calls().Watch = func(m *delivery.Message) {
		happens('m', int(binary.LittleEndian.Uint32(m.Header)), 1)
	}
	b.eng.Handle(1, func(*delivery.Message) {})
}

// add is e with one more thing that happened.
func (e effect) add(h happening) effect {
	switch h.what {
	case 'w':
		e.wrote += h.n
	case 's':
		e.signaled++
	case 'm':
		e.accepted++
	case 'a':
		e.added++
	}
	return e
}

// story is what is known of all operations in one state: from their posters and from the target.
type story struct {
	ops   []fact
	done  [room]effect
	fails []string
}

func (s *story) failf(format string, args ...any) {
	s.fails = append(s.fails, fmt.Sprintf(format, args...))
}

// whole says whether all of an operation's effect is there, or will never be, or is nothing.
func (s *story) whole(i int) bool {
	o, d := s.ops[i], s.done[i]
	switch {
	case o.end == unexecuted:
		return true
	case o.word == "P" || o.word == "Q":
		return d.wrote == o.size
	case o.word == "S" || o.word == "s":
		return d.wrote == o.size && d.signaled == 1
	case o.message():
		return d.accepted == 1
	case o.adds():
		return d.added == 1
	}
	return o.end != open
}

func (o fact) message() bool { return strings.Contains("MLR", o.word[:1]) }
func (o fact) adds() bool    { return o.word == "A" || o.word == "a" }
func (o fact) flush() bool   { return o.word[0] == 'F' || o.word == "W" || o.word == "X" }

// happen is one more thing that happens at the target.
func (s *story) happen(h happening) {
	if h.op >= len(s.ops) {
		s.failf("an effect %c of an operation %d that nobody posted", h.what, h.op)
		return
	}
	o := s.ops[h.op]
	s.done[h.op] = s.done[h.op].add(h)
	d := s.done[h.op]
	switch {
	case o.end == unexecuted:
		s.failf("%s, operation %d, was canceled, and has an effect", o.word, h.op)
	case d.wrote > o.size:
		s.failf("%s, operation %d, is written twice", o.word, h.op)
	case h.what == 's' && (h.n != 1 || d.signaled > 1):
		s.failf("%s, operation %d: its counter becomes %d", o.word, h.op, h.n)
	case h.what == 's' && d.wrote != o.size:
		s.failf("%s, operation %d: its signal is there, and %d of %d bytes are", o.word, h.op, d.wrote, o.size)
	case d.accepted > 1 || d.added > 1:
		s.failf("%s, operation %d, is executed twice", o.word, h.op)
	}
	for k, p := range s.ops[:h.op] {
		switch {
		case p.ep != o.ep || s.whole(k):
		case h.what == 'm' && p.message():
			s.failf("message %d before message %d", h.op, k)
		case p.fence < o.fence && !p.flush():
			s.failf("%s, operation %d, has an effect before %s, operation %d, which is before the fence", o.word, h.op, p.word, k)
		}
	}
}

// end is the user's end of an operation.
func (s *story) end(i int) {
	o, d := s.ops[i], s.done[i]
	switch {
	case o.end == badly:
		s.failf("%s, operation %d, ends with an error", o.word, i)
	case o.end == unexecuted && d != effect{}:
		s.failf("%s, operation %d, ends as not executed, and has an effect", o.word, i)
	case o.flush():
		for k := range s.ops[:i] {
			if s.covers(o, k) && (!s.whole(k) || o.word == "Fs") {
				s.failf("%s, operation %d, ended, and %s, operation %d, is not executed", o.word, i, s.ops[k].word, k)
			}
		}
	case o.word[0] == 'G' && o.end == well:
		s.read(o)
	case o.word == "A" && o.end == well:
		s.fetched(o, i)
	}
}

// covers says what a flush promises of an operation before it.
func (s *story) covers(f fact, k int) bool {
	p := s.ops[k]
	switch {
	case p.flush() || f.word == "Fl":
		return false // which lane an operation took is the engine's choice
	case f.word == "Fs" && p.ep == f.ep:
		return p.end == open
	case f.word == "W":
		return p.from == f.from
	case f.word == "Fm" && p.message():
		return false
	}
	return p.ep == f.ep
}

// read looks whether a get saw what the fences between it and the put of its word allow.
func (s *story) read(g fact) {
	new := g.got == uint64(g.slot+1)
	switch {
	case !new && g.got != 0:
		s.failf("a get read %d", g.got)
	case g.slot >= len(s.ops) || s.ops[g.slot].size == 0:
		if new {
			s.failf("a get read what is not posted")
		}
	case s.ops[g.slot].ep != g.ep || s.ops[g.slot].end == unexecuted:
	case s.ops[g.slot].fence < g.fence && !new:
		s.failf("a get does not see the put before the fence")
	case s.ops[g.slot].fence > g.fence && new:
		s.failf("a get saw what was put behind the fence")
	}
}

// fetched looks whether an addition saw what was added before it, and nothing else.
func (s *story) fetched(a fact, i int) {
	for k, p := range s.ops {
		n := a.got >> (8 * k) & 0xff
		switch {
		case n > 1 || n == 1 && (k == i || s.done[k].added == 0):
			s.failf("operation %d fetched %#x: what was not added, or is its own", i, a.got)
		case p.ep != a.ep || !p.adds() || p.end == unexecuted:
		case n == 0 && p.fence < a.fence || n == 1 && p.fence > a.fence:
			s.failf("operation %d fetched %#x, with operation %d on the wrong side of a fence", i, a.got, k)
		}
	}
}

// left says what is not over, "" if nothing is.
func (s *story) left() string {
	for i, o := range s.ops {
		if o.end == open || !s.whole(i) {
			return fmt.Sprintf("%s, operation %d, did not end", o.word, i)
		}
	}
	return ""
}
