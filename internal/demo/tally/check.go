package tally

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

// Counts are the receiver's findings.
type Counts struct {
	Blocks, Words, Messages uint64 // seen, each number once, with the right content
	Doubled                 uint64 // seen again
	Lost                    uint64 // missing at the end, or only with wrong content
	Bytes                   uint64 // of data, in blocks that were right
	Problems                []string
}

// maxProblems that are told in words; all are counted.
const maxProblems = 12

// Problem tells one more thing that is wrong.
func (c *Counts) Problem(format string, args ...any) {
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

// Order checks numbered messages: each once, in posting order.
type Order struct {
	Counts
	next    uint64 // number that is due
	missing map[uint64]bool
}

// NewOrder waits for message 1.
func NewOrder() *Order { return &Order{next: 1, missing: map[uint64]bool{}} }

// Message takes a message as it came, and says what it is.
func (o *Order) Message(head, payload []byte) (kind byte, ok bool) {
	number, kind, ok := parseMessage(head, payload)
	switch {
	case !ok:
		o.Problem("message: header %x, %d bytes: content is not what was sent", head, len(payload))
		return 0, false
	case number == o.next:
		o.next++
	case number > o.next && number-o.next < 1<<20:
		o.Problem("message %d came when %d was due", number, o.next)
		for ; o.next < number; o.next++ {
			o.missing[o.next] = true
		}
		o.next++
	case o.missing[number]:
		o.Problem("message %d came after later ones", number)
		delete(o.missing, number)
	default:
		o.Doubled++
		o.Problem("message %d came again", number)
		return kind, false
	}
	o.Messages++
	return kind, true
}

// Board checks what is put: blocks into the ring, words into the other memory.
type Board struct {
	Counts
	ring  []byte
	words Words
	note  func()

	sum   hash.Hash // of the data, in order
	block uint64    // number that is due
	seen  [Slots]uint64
	held  []held // checked, not given back yet
}

// held is a window that was checked and is watched until it is given back.
type held struct {
	Announcement
	good [WindowBlocks]bool
}

// Words is memory of atomic words.
type Words interface {
	Load64(offset uint64) uint64
	Store64(offset, v uint64)
}

// NewBoard checks a ring and words that are zero; note is told whenever words have landed.
func NewBoard(ring []byte, w Words, note func()) *Board {
	return &Board{ring: ring, words: w, note: note, sum: sha256.New(), block: 1}
}

// Sweep takes the words that have landed.
func (b *Board) Sweep() {
	n := 0
	for i := range uint64(Slots) {
		if v := b.words.Load64(wordSize * i); v != 0 {
			b.words.Store64(wordSize*i, 0)
			b.landed(int(i), v)
			n++
		}
	}
	if n > 0 {
		b.note()
	}
}

// landed: a word stands in slot i. A slot's numbers are slots apart.
func (b *Board) landed(i int, number uint64) {
	due := b.seen[i] + Slots
	if b.seen[i] == 0 {
		due = uint64(i) + 1
	}
	switch {
	case number <= b.seen[i] && SlotOf(number) == i:
		b.Doubled++
		b.Problem("word %d landed again", number)
		return
	case SlotOf(number) != i:
		b.Problem("word %d landed where %d was due", number, due)
		return
	case number != due:
		b.Problem("word %d landed when %d was due", number, due)
	}
	b.seen[i] = number
	b.Words++
}

// Check looks at a window that was announced: the flush before the announcement promised that it is all here.
func (b *Board) Check(a Announcement) {
	if a.First != b.block {
		b.Problem("window %d begins with block %d, due is %d", a.Window, a.First, b.block)
	}
	h := held{Announcement: a}
	for i, sum := range a.Sums {
		b.Sweep()
		h.good[i] = b.checkBlock(a.First+uint64(i), sum)
	}
	for i := range a.Sums {
		if n := a.First + uint64(i); b.seen[SlotOf(n)] < n {
			b.Problem("word %d is not there, though its flush is done", n)
		}
	}
	b.block = a.First + uint64(len(a.Sums))
	b.held = append(b.held, h)
}

func (b *Board) checkBlock(number uint64, sum uint32) (good bool) {
	s := Slot(b.ring, SlotOf(number))
	data, ok := openBlock(s, number, sum)
	switch found := blockNumber(s); {
	case ok:
		b.Blocks++
		b.Bytes += uint64(len(data))
		b.sum.Write(data)
	case found != 0 && found < number && SlotOf(found) == SlotOf(number):
		b.Doubled++
		b.Problem("block %d: the put of block %d landed there again", number, found)
	case found == 0:
		b.Problem("block %d is not there, though its flush is done", number)
	default:
		b.Problem("block %d: content is not what was sent", number)
	}
	takeBlock(s)
	return ok
}

// Digest is the SHA-256 of the data so far.
func (b *Board) Digest() string { return fmt.Sprintf("%x", b.sum.Sum(nil)) }

// GiveBack looks once more at the oldest windows until keep are left; what it returns may be written again.
func (b *Board) GiveBack(keep int) (done []uint64) {
	for len(b.held) > keep {
		a := b.held[0]
		b.held = b.held[1:]
		b.Sweep()
		for i, sum := range a.Sums {
			n := a.First + uint64(i)
			if s := Slot(b.ring, SlotOf(n)); a.good[i] && !untouched(s, n, sum) {
				b.Doubled++
				b.Problem("block %d: a put landed in its slot again (number %d) after its flush was done", n, blockNumber(s))
			}
		}
		done = append(done, a.Window)
	}
	return done
}

// Conclude compares with what the sender says that it issued.
func Conclude(b *Board, o *Order, t Totals) Counts {
	c := Counts{
		Blocks: b.Blocks, Words: b.Words, Messages: o.Messages, Bytes: b.Bytes, Doubled: b.Doubled + o.Doubled,
		Problems: append(append([]string(nil), o.Problems...), b.Problems...),
	}
	miss := func(what string, issued, seen uint64) {
		switch {
		case seen < issued:
			c.Lost += issued - seen
			c.Problem("%d of %d %s did not arrive, or not as they were sent", issued-seen, issued, what)
		case seen > issued:
			c.Doubled += seen - issued
			c.Problem("%d %s arrived, more than the %d that were sent", seen, what, issued)
		}
	}
	miss("blocks", t.Blocks, c.Blocks)
	miss("words", t.Words, c.Words)
	miss("messages", t.Messages, c.Messages)
	if t.Bytes != c.Bytes {
		c.Problem("%d bytes of data arrived, sent were %d", c.Bytes, t.Bytes)
	}
	return c
}
