package perf

import (
	"math/bits"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Atomic operations change words of the server's memory. All add to one word: with verify each adds a value of its own, so that the server sees by the sum
// how many were lost or done twice, and also that one was lost and another done twice; and of what is fetched each value comes once. With verify, what swaps has a word for each operation under way, so that it is known what must come back.

func (c *client) postAtomic(s *slot, i int) braid.Request {
	offset := uint64(0)
	if c.p.Verify && c.test.Swaps {
		offset = uint64(8 * i)
	}
	if c.p.Size == 4 {
		return change(c, c.ep.Word32(c.key, offset), s)
	}
	return change(c, c.ep.Word64(c.key, offset), s)
}

// change posts one. What a word that is swapped will be is kept in the slot.
func change[T uint32 | uint64](c *client, w braid.Word[T], s *slot) braid.Request {
	s.was, s.is = s.is, s.seq+1
	switch c.test.Name {
	case "add":
		v := uint64(1)
		if c.p.Verify {
			v = addend(s.seq, c.p.Size)
		}
		return w.PostAdd(T(v))
	case "fadd":
		return w.PostFetchAdd(1).Request
	case "swap":
		return w.PostSwap(T(s.is)).Request
	}
	return w.PostCompareSwap(T(s.was), T(s.is)).Request
}

// fetched looks at what an operation brought.
func (c *client) fetched(s *slot) {
	if c.ledger == nil || !c.test.Fetch {
		return
	}
	var old uint64
	if c.p.Size == 4 {
		_, short, _ := braid.Fetch[uint32]{Request: s.r}.Test()
		old = uint64(short)
	} else {
		_, old, _ = braid.Fetch[uint64]{Request: s.r}.Test()
	}
	switch {
	case !c.test.Swaps:
		c.ledger.Note(old)
	case old == s.was&c.mask():
		c.ledger.Note(s.seq)
	default:
		c.ledger.Note(s.seq)
		c.ledger.Corrupt++
	}
}

func (c *client) mask() uint64 { return 1<<(8*c.p.Size-1)<<1 - 1 }

// last looks at the words that were swapped, before the server lets go of them.
func (c *client) last() error {
	if c.ledger == nil || !c.test.Swaps || c.win == nil {
		return nil
	}
	for i := range c.win.slots {
		var is uint64
		var err error
		if c.p.Size == 4 {
			var short uint32
			short, err = c.ep.Word32(c.key, uint64(8*i)).FetchAdd(c.ctx, 0)
			is = uint64(short)
		} else {
			is, err = c.ep.Word64(c.key, uint64(8*i)).FetchAdd(c.ctx, 0)
		}
		if err != nil {
			return err
		}
		if is != c.win.slots[i].is&c.mask() {
			c.ledger.Corrupt++
		}
	}
	return nil
}

// counted is how many bits of a word of so many bytes count operations. Above them stands a sum of what each has of its own.
func counted(size int) int { return 4*size + 1 }

// addend is what operation seq adds: one, and bits of its own above where that is counted.
func addend(seq uint64, size int) uint64 {
	return 1 + bits.Reverse64(pattern.Base(seq, false))<<counted(size)
}

// sum is what was added, against what should have been.
func (ses *session) sum() (t Tally) {
	if !ses.verify || ses.test.Swaps {
		return t
	}
	size := ses.size
	is := ses.mem.Load64(0)
	if size == 4 {
		is = uint64(ses.mem.Word32(0).Load())
	}
	if t.Arrived = is; !ses.test.Fetch {
		return added(is, ses.total, size)
	}
	if is < ses.total {
		t.Lost = ses.total - is
	} else {
		t.Doubled = is - ses.total
	}
	return t
}

// added is what a word says to which so many operations added.
func added(is, total uint64, size int) (t Tally) {
	want := uint64(0)
	for seq := range total {
		want += addend(seq, size)
	}
	unused := 64 - 8*size
	off := (is - want) << unused
	more := int64(off<<(64-unused-counted(size))) >> (64 - counted(size)) // of what is counted, which wraps
	switch {
	case more < 0:
		t.Lost = uint64(-more)
	case more > 0:
		t.Doubled = uint64(more)
	case off != 0: // as many as there should be, and not those
		t.Lost, t.Doubled = 1, 1
	}
	t.Arrived = total + uint64(more)
	return t
}
