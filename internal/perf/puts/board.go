package puts

import (
	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Layout is a place for each put under way, or for each that is read.
type Layout struct {
	Size    int // of a put
	Slots   int
	Signals bool // a word behind each
}

// Room is the bytes of memory that it takes.
func (l Layout) Room() int {
	if l.Signals {
		return l.stride() * l.Slots
	}
	return max(l.Size, pattern.WordLen) * l.Slots
}

func (l Layout) stride() int {
	if !l.Signals {
		return l.Size
	}
	return (l.Size + 2*pattern.WordLen - 1) / pattern.WordLen * pattern.WordLen
}

// Offset is where a slot begins, Word where its word is.
func (l Layout) Offset(slot int) uint64 { return uint64(slot * l.stride()) }
func (l Layout) Word(slot int) uint64   { return l.Offset(slot+1) - pattern.WordLen }

// Signal is that of put number seq in a slot: what it adds says which it is.
func (l Layout) Signal(key braid.RKey, slot int, seq uint64) braid.Signal {
	return braid.Signal{Key: key, Offset: l.Word(slot), Value: seq + 1, Add: true}
}

// Board is the memory of such places.
type Board struct {
	Layout
	Mem    *braid.Memory
	Ledger *ledger.Ledger // nil: nobody looks
	seen   []bool         // signals of this round
}

// Slot is the bytes of one.
func (b *Board) Slot(i int) []byte {
	at := int(b.Offset(i))
	return b.Mem.Bytes()[at : at+b.Size]
}

// Look looks at each put whose signal has come since the last time: it must be there.
func (b *Board) Look() {
	if b.Ledger == nil || !b.Signals {
		return
	}
	if b.seen == nil {
		b.seen = make([]bool, b.Slots)
	}
	for i, seen := range b.seen {
		if seen {
			continue
		}
		if n := b.Mem.Load64(b.Word(i)); n != 0 {
			if b.seen[i] = true; !pattern.Filled(b.Slot(i), pattern.Base(n-1, false)) {
				b.Ledger.Corrupt++
			}
		}
	}
}

// Check looks at the puts of a round, which are all executed, and clears their places.
func (b *Board) Check(first, count uint64) {
	if b.Ledger == nil || count > uint64(b.Slots) {
		return // it is not what has places to look at
	}
	b.Look()
	for i := range int(count) {
		seq := first + uint64(i)
		b.Ledger.PutSlot(b.Slot(i), seq, uint64(b.Slots))
		if !b.Signals {
			continue
		}
		switch n := b.Mem.Load64(b.Word(i)); {
		case n == seq+1:
		case n == 0:
			b.Ledger.Lost++
		case n%(seq+1) == 0:
			b.Ledger.Doubled += n/(seq+1) - 1
		default:
			b.Ledger.Corrupt++
		}
		b.Mem.Store64(b.Word(i), 0)
		b.seen[i] = false
	}
}

// Rest looks at the places after the last check: whatever is there came late.
func (b *Board) Rest() {
	for i := range b.Slots {
		if b.Ledger.Rest(b.Slot(i)); b.Signals && b.Mem.Load64(b.Word(i)) != 0 {
			b.Ledger.Doubled++
		}
	}
}
