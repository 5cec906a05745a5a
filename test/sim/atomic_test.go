package sim

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
)

// What the peer's atomic operations change, and how it is seen which of them did: a sum grows by the operation's number, a word that is swapped is the
// number, and each operation that sets or clears a bit has its own.
const (
	sums     = 0  // two of 8 bytes, and two of 4
	swaps    = 32 // two of 8 bytes, and two of 4
	compares = 64 // one of 8 bytes
	bitsSet  = 72 // words of 4 bytes: at first clear
)

// changing is memory whose words are changed.
type changing struct {
	region *memory.Region
	shadow []byte // what was seen
	clears uint64 // where the bits begin that are set at first
	seen   uint64 // of the peer's compared word, by this side
}

func (s *side) initChanges() {
	words := uint64(s.w.ops/32+1) * 4
	c := &s.changing
	c.clears = bitsSet + words
	c.region = s.mem.Add(memory.Aligned(int(c.clears + words)))
	for i := range c.region.Bytes[c.clears:] {
		c.region.Bytes[c.clears:][i] = 0xff
	}
	c.shadow = bytes.Clone(c.region.Bytes)
	c.region.Watch = s.changed
}

// choose makes o some atomic operation.
func (s *side) choose(o *op) {
	w, number := s.w, uint64(o.index+1)
	word := uint64(w.n(4))
	h := wire.AtomicOp{Size: 8, Fetch: w.n(2) == 0, Value: number, Offset: 8 * word}
	if word >= 2 {
		h.Size = 4
	}
	bit := uint64(1) << (o.index % 32)
	switch w.n(6) {
	case 0, 1:
		h.Change = wire.ChangeAdd
	case 2:
		h.Change = wire.ChangeSwap
		h.Offset += swaps
	case 3:
		h.Change, h.Size, h.Offset, h.Compare = wire.ChangeCompare, 8, compares, s.changing.seen
	case 4:
		h.Change, h.Size, h.Offset, h.Value = wire.ChangeOr, 4, bitsSet+uint64(o.index/32*4), bit
		if w.n(2) == 0 {
			h.Change = wire.ChangeXor
		}
	case 5:
		h.Change, h.Size, h.Offset, h.Value = wire.ChangeAnd, 4, s.peer.changing.clears+uint64(o.index/32*4), ^bit&0xffffffff
	}
	o.change = h
}

// number is a word of size bytes.
func number(b []byte) uint64 {
	if len(b) == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// changed is an atomic operation of the peer, about to change a word to src.
func (s *side) changed(offset uint64, src []byte) {
	c := &s.changing
	was := c.shadow[offset:][:len(src)]
	old, new := number(was), number(src)
	if now := number(c.region.Bytes[offset:][:len(src)]); now != old {
		s.w.failf("%s: the word at %d is %#x, after the last change it was %#x", s.name, offset, now, old)
	}
	copy(was, src)
	if offset == compares && old == new {
		return // it was not what it was compared with
	}
	i := -1
	for k, o := range s.peer.ops {
		h := o.change
		if h.Size != uint8(len(src)) || h.Offset != offset || o.signaled > 0 && h.Change != wire.ChangeAdd {
			continue
		}
		v := h.Value
		if h.Change == wire.ChangeAdd {
			v = (old + v) & (1<<(8*h.Size) - 1)
		} else if offset >= bitsSet {
			v = map[bool]uint64{true: old | v, false: old & v}[offset < c.clears]
		}
		if v == new && old != new {
			i = k
			break
		}
	}
	if i < 0 {
		s.w.failf("%s: the word at %d becomes %#x, of %#x: by nobody, or for the second time", s.name, offset, new, old)
		return
	}
	o := s.peer.ops[i]
	o.old = old
	if o.signaled++; o.signaled > 1 {
		s.w.failf("%s: %v %d is done %d times", s.name, o.change.Change, i, o.signaled)
	}
	if o.ended && o.err != nil && fate(o.err) == outcome.NotExecuted {
		s.w.failf("%s: %v %d is done although its sender was told that it was not", s.name, o.change.Change, i)
	}
	s.ordered(o)
}

// changeDone says whether an atomic operation is done. Of one that compares and finds something else nothing is seen.
func (o *op) changeDone() bool { return o.signaled > 0 || o.change.Change == wire.ChangeCompare }

// fetched is the end of an operation that fetches: it has the value of the one time when it was done.
func (s *side) fetched(o *op, old uint64) {
	switch {
	case o.change.Change == wire.ChangeCompare:
		s.changing.seen = old
		if done := o.signaled > 0; done != (old == o.change.Compare) {
			s.w.failf("%s: compare-and-swap %d of %d fetched %d; done: %v", s.name, o.index, o.change.Compare, old, done)
		}
		if old == o.change.Compare {
			s.changing.seen = o.change.Value
		}
	case o.signaled == 0:
		s.w.failf("%s: %v %d was answered and is not done", s.name, o.change.Change, o.index)
	case old != o.old:
		s.w.failf("%s: %v %d fetched %#x, it was %#x", s.name, o.change.Change, o.index, old, o.old)
	}
}

// TestAtomics: an endpoint has lanes that are lost, over which little else goes than atomic operations.
func TestAtomics(t *testing.T) {
	eachSeed(t, 40, 10, func(seed uint64) *world {
		s := shapeOf(seed)
		s.ops, s.faults, s.atomics = 80, 6, true
		s.devices = min(int(seed%3)*s.lanes/2, s.lanes) // none, half, or all
		w := newWorld(seed, s)
		w.run()
		return w
	})
}
