package demo

import (
	"crypto/sha256"
	"fmt"
	"hash"
)

// counts are the receiver's findings.
type counts struct {
	Blocks, Words, Messages uint64 // seen, each number once, with the right content
	Doubled                 uint64 // seen again
	Lost                    uint64 // missing at the end, or only with wrong content
	Bytes                   uint64 // of data, in blocks that were right
	Problems                []string
}

// maxProblems that are told in words; all are counted.
const maxProblems = 12

func (c *counts) problem(format string, args ...any) {
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

// order checks numbered messages: each once, in posting order.
type order struct {
	counts
	next    uint64 // number that is due
	missing map[uint64]bool
}

func newOrder() *order { return &order{next: 1, missing: map[uint64]bool{}} }

// message takes a message as it came, and says what it is.
func (o *order) message(head, payload []byte) (kind byte, ok bool) {
	number, kind, ok := parseMessage(head, payload)
	switch {
	case !ok:
		o.problem("message: header %x, %d bytes: content is not what was sent", head, len(payload))
		return 0, false
	case number == o.next:
		o.next++
	case number > o.next && number-o.next < 1<<20:
		o.problem("message %d came when %d was due", number, o.next)
		for ; o.next < number; o.next++ {
			o.missing[o.next] = true
		}
		o.next++
	case o.missing[number]:
		o.problem("message %d came after later ones", number)
		delete(o.missing, number)
	default:
		o.Doubled++
		o.problem("message %d came again", number)
		return kind, false
	}
	o.Messages++
	return kind, true
}

// board checks what is put: blocks into the ring, words into the other memory.
type board struct {
	counts
	ring  []byte
	words words
	note  func() // told when words have landed

	sum   hash.Hash // of the data, in order
	block uint64    // number that is due
	seen  [slots]uint64
	held  []held // checked, not given back yet
}

// held is a window that was checked and is watched until it is given back.
type held struct {
	announcement
	good [windowBlocks]bool
}

// words is memory of atomic words.
type words interface {
	Load64(offset uint64) uint64
	Store64(offset, v uint64)
}

func newBoard(ring []byte, w words, note func()) *board {
	return &board{ring: ring, words: w, note: note, sum: sha256.New(), block: 1}
}

// sweep takes the words that have landed.
func (b *board) sweep() {
	n := 0
	for i := range uint64(slots) {
		if v := b.words.Load64(8 * i); v != 0 {
			b.words.Store64(8*i, 0)
			b.landed(int(i), v)
			n++
		}
	}
	if n > 0 {
		b.note()
	}
}

// landed: a word stands in slot i. A slot's numbers are slots apart.
func (b *board) landed(i int, number uint64) {
	due := b.seen[i] + slots
	if b.seen[i] == 0 {
		due = uint64(i) + 1
	}
	switch {
	case number <= b.seen[i] && slotOf(number) == i:
		b.Doubled++
		b.problem("word %d landed again", number)
		return
	case slotOf(number) != i:
		b.problem("word %d landed where %d was due", number, due)
		return
	case number != due:
		b.problem("word %d landed when %d was due", number, due)
	}
	b.seen[i] = number
	b.Words++
}

// check looks at a window that was announced: the flush before the announcement promised that it is all here.
func (b *board) check(a announcement) {
	if a.first != b.block {
		b.problem("window %d begins with block %d, due is %d", a.window, a.first, b.block)
	}
	h := held{announcement: a}
	for i, sum := range a.sums {
		b.sweep()
		h.good[i] = b.checkBlock(a.first+uint64(i), sum)
	}
	for i := range a.sums {
		if n := a.first + uint64(i); b.seen[slotOf(n)] < n {
			b.problem("word %d is not there, though its flush is done", n)
		}
	}
	b.block = a.first + uint64(len(a.sums))
	b.held = append(b.held, h)
}

func (b *board) checkBlock(number uint64, sum uint32) (good bool) {
	s := slot(b.ring, slotOf(number))
	data, ok := openBlock(s, number, sum)
	switch found := blockNumber(s); {
	case ok:
		b.Blocks++
		b.Bytes += uint64(len(data))
		b.sum.Write(data)
	case found != 0 && found < number && slotOf(found) == slotOf(number):
		b.Doubled++
		b.problem("block %d: the put of block %d landed there again", number, found)
	case found == 0:
		b.problem("block %d is not there, though its flush is done", number)
	default:
		b.problem("block %d: content is not what was sent", number)
	}
	takeBlock(s)
	return ok
}

// giveBack looks once more at the oldest windows until keep are left; what it returns may be written again.
func (b *board) giveBack(keep int) (done []uint64) {
	for len(b.held) > keep {
		a := b.held[0]
		b.held = b.held[1:]
		b.sweep()
		for i, sum := range a.sums {
			n := a.first + uint64(i)
			if s := slot(b.ring, slotOf(n)); a.good[i] && !untouched(s, n, sum) {
				b.Doubled++
				b.problem("block %d: a put landed in its slot again (number %d) after its flush was done", n, blockNumber(s))
			}
		}
		done = append(done, a.window)
	}
	return done
}

// conclude compares with what the sender says that it issued.
func conclude(b *board, o *order, t totals) counts {
	c := counts{
		Blocks: b.Blocks, Words: b.Words, Messages: o.Messages, Bytes: b.Bytes, Doubled: b.Doubled + o.Doubled,
		Problems: append(append([]string(nil), o.Problems...), b.Problems...),
	}
	miss := func(what string, issued, seen uint64) {
		switch {
		case seen < issued:
			c.Lost += issued - seen
			c.problem("%d of %d %s did not arrive, or not as they were sent", issued-seen, issued, what)
		case seen > issued:
			c.Doubled += seen - issued
			c.problem("%d %s arrived, more than the %d that were sent", seen, what, issued)
		}
	}
	miss("blocks", t.Blocks, c.Blocks)
	miss("words", t.Words, c.Words)
	miss("messages", t.Messages, c.Messages)
	if t.Bytes != c.Bytes {
		c.problem("%d bytes of data arrived, sent were %d", c.Bytes, t.Bytes)
	}
	return c
}
