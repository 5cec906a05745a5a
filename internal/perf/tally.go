package perf

import "encoding/binary"

// Tally is what the far side saw. Anything but Arrived above zero is a broken promise.
type Tally struct {
	Arrived   uint64 `json:"arrived"`
	Lost      uint64 `json:"lost"`
	Doubled   uint64 `json:"doubled"`
	Corrupt   uint64 `json:"corrupt"`
	Disorders uint64 `json:"disorders"` // messages that came after a later one
}

func (t *Tally) add(o Tally) {
	t.Arrived += o.Arrived
	t.Lost += o.Lost
	t.Doubled += o.Doubled
	t.Corrupt += o.Corrupt
	t.Disorders += o.Disorders
}

// Broken says whether a promise was.
func (t Tally) Broken() bool { return t.Lost+t.Doubled+t.Corrupt+t.Disorders > 0 }

// ledger counts operations by their numbers, 0 to total-1.
type ledger struct {
	Tally
	total uint64
	free  bool     // operations have no order
	next  uint64   // above the highest number seen
	seen  []uint64 // one bit a number
}

func newLedger(total uint64) *ledger {
	return &ledger{total: total, seen: make([]uint64, (total+63)/64)}
}

// trim says how many there are in the end; 0 is as many as was said.
func (l *ledger) trim(total uint64) {
	if total > 0 && total < l.total {
		l.total = total
	}
}

// note takes an operation that arrived.
func (l *ledger) note(seq uint64) {
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
	case seq < l.next && !l.free:
		l.Disorders++
	default:
		l.next = max(l.next, seq+1)
	}
	l.seen[word] |= bit
}

// message takes one whose header begins with its number.
func (l *ledger) message(header, payload []byte, server bool) {
	if len(header) < wordLen {
		l.Arrived++
		l.Corrupt++
		return
	}
	seq := binary.LittleEndian.Uint64(header)
	l.note(seq)
	if !filled(payload, base(seq, server)) {
		l.Corrupt++
	}
}

// final counts the numbers that never came.
func (l *ledger) final() Tally {
	t := l.Tally
	for seq := range l.total {
		if l.seen[seq/64]&(1<<(seq%64)) == 0 {
			t.Lost++
		}
	}
	return t
}

// putSlot looks at the slot of put number seq, one of many slots, and clears it. earlier says how many slots
// there are: what stood here before has a number lower by a multiple of that.
func (l *ledger) putSlot(slot []byte, seq, slots uint64) {
	defer clear(slot)
	switch {
	case filled(slot, base(seq, false)):
		l.note(seq)
	case blank(slot):
		// Never came: final counts it.
	case l.old(slot, seq, slots):
		l.note(seq - slots) // seen before
	default:
		l.note(seq)
		l.Corrupt++
	}
}

// old says whether slot has a put of an earlier round again. The slot was cleared after each.
func (l *ledger) old(slot []byte, seq, slots uint64) bool {
	for k := uint64(1); k <= 64 && k*slots <= seq; k++ {
		if filled(slot, base(seq-k*slots, false)) {
			return true
		}
	}
	return false
}

// rest looks at slots after the last check: whatever is there came late.
func (l *ledger) rest(slot []byte) {
	if !blank(slot) {
		l.Doubled++
	}
}
