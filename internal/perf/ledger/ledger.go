package ledger

import (
	"encoding/binary"

	"github.com/openbraid/braid/internal/perf/pattern"
)

// Tally is what the far side saw. Anything but Arrived above zero is a broken promise.
type Tally struct {
	Arrived   uint64 `json:"arrived"`
	Lost      uint64 `json:"lost"`
	Doubled   uint64 `json:"doubled"`
	Corrupt   uint64 `json:"corrupt"`
	Disorders uint64 `json:"disorders"` // messages that came after a later one
}

func (t *Tally) Add(o Tally) {
	t.Arrived += o.Arrived
	t.Lost += o.Lost
	t.Doubled += o.Doubled
	t.Corrupt += o.Corrupt
	t.Disorders += o.Disorders
}

// Broken says whether a promise was.
func (t Tally) Broken() bool { return t.Lost+t.Doubled+t.Corrupt+t.Disorders > 0 }

// Ledger counts operations by their numbers, 0 to total-1.
type Ledger struct {
	Tally
	total uint64
	Free  bool     // operations have no order
	next  uint64   // above the highest number seen
	seen  []uint64 // one bit a number
}

func New(total uint64) *Ledger {
	return &Ledger{total: total, seen: make([]uint64, (total+63)/64)}
}

// Trim says how many there are in the end; 0 is as many as was said.
func (l *Ledger) Trim(total uint64) {
	if total > 0 && total < l.total {
		l.total = total
	}
}

// Note takes an operation that arrived.
func (l *Ledger) Note(seq uint64) {
	l.Arrived++
	if seq >= l.total {
		l.Corrupt++ // a number that nobody gave out
		return
	}
	word, bit := seq/64, uint64(1)<<(seq%64)
	switch {
	case l.seen[word]&bit != 0:
		l.Doubled++
		return
	case seq < l.next && !l.Free:
		l.Disorders++
	default:
		l.next = max(l.next, seq+1)
	}
	l.seen[word] |= bit
}

// Message takes one whose header begins with its number.
func (l *Ledger) Message(header, payload []byte, server bool) {
	if len(header) < pattern.WordLen {
		l.Arrived++
		l.Corrupt++
		return
	}
	l.Numbered(binary.LittleEndian.Uint64(header), payload, server)
}

// Numbered takes one whose number is known otherwise: it is a tag, or its place in a stream. server says who sent it.
func (l *Ledger) Numbered(seq uint64, payload []byte, server bool) {
	l.Note(seq)
	if !pattern.Filled(payload, pattern.Base(seq, server)) {
		l.Corrupt++
	}
}

// Final counts the numbers that never came.
func (l *Ledger) Final() Tally {
	t := l.Tally
	for seq := range l.total {
		if l.seen[seq/64]&(1<<(seq%64)) == 0 {
			t.Lost++
		}
	}
	return t
}

// PutSlot looks at the slot of put number seq, one of many slots, and clears it. earlier says how many slots
// there are: what stood here before has a number lower by a multiple of that.
func (l *Ledger) PutSlot(slot []byte, seq, slots uint64) {
	defer clear(slot)
	switch {
	case pattern.Filled(slot, pattern.Base(seq, false)):
		l.Note(seq)
	case pattern.Blank(slot):
		// Never came: final counts it.
	case l.old(slot, seq, slots):
		l.Note(seq - slots) // seen before
	default:
		l.Note(seq)
		l.Corrupt++
	}
}

// old says whether slot has a put of an earlier round again. The slot was cleared after each.
func (l *Ledger) old(slot []byte, seq, slots uint64) bool {
	for k := uint64(1); k <= 64 && k*slots <= seq; k++ {
		if pattern.Filled(slot, pattern.Base(seq-k*slots, false)) {
			return true
		}
	}
	return false
}

// Rest looks at slots after the last check: whatever is there came late.
func (l *Ledger) Rest(slot []byte) {
	if !pattern.Blank(slot) {
		l.Doubled++
	}
}

// Answer looks at what get number seq brought, and clears it.
func (l *Ledger) Answer(got []byte, seq, slots uint64) {
	defer clear(got)
	switch from, ok := sourceOf(got, seq, slots); {
	case ok:
		l.Note(from) // its own, or that of an earlier one once more
	case pattern.Blank(got):
		// Done, and nothing came: final counts it.
	default:
		l.Note(seq)
		l.Corrupt++
	}
}

// sourceOf is the last get up to seq that was to bring what came.
func sourceOf(got []byte, seq, slots uint64) (uint64, bool) {
	for back := range min(slots, seq+1) {
		if pattern.Filled(got, pattern.Base((seq-back)%slots, true)) {
			return seq - back, true
		}
	}
	return 0, false
}
