package ring

import "sync/atomic"

// Writer is the end that fills a ring.
type Writer struct {
	mem  memory
	next uint64 // slot
	read uint64 // slots that the reader has given back, as far as was looked
	data uint64 // where the last piece ended, counted from the beginning of time
	free uint64 // the same of the last slot given back
	ends []uint64

	slot  int // reserved
	after uint64
	own   atomic.Uint32 // this side's, for fence
}

// NewWriter makes the writing end over mem, which is all zero.
func NewWriter(mem []byte, s Shape) (*Writer, error) {
	m, err := over(mem, s)
	if err != nil {
		return nil, err
	}
	return &Writer{mem: m, ends: make([]uint64, s.Slots)}, nil
}

// Reserve returns the memory of the next piece, of n bytes, at most Piece; ok is false if there is no room now. What was reserved and not
// published is forgotten by the next Reserve.
//
// Errors: ErrGarbage if the reader gave back what can't be.
func (w *Writer) Reserve(n int) (dst []byte, ok bool, err error) {
	at, after := w.mem.shape.place(w.data, n)
	if !w.fits(after) {
		if err := w.look(); err != nil {
			return nil, false, err
		}
		if !w.fits(after) {
			return nil, false, nil
		}
	}
	w.slot, w.after = w.mem.slot(w.next), after
	return w.mem.body(w.slot, at, n), true, nil
}

func (w *Writer) fits(after uint64) bool {
	return w.next-w.read < uint64(w.mem.shape.Slots) && after-w.free <= uint64(w.mem.shape.Data)
}

// look reads how far the reader has come.
func (w *Writer) look() error {
	read := w.mem.word64(offRead).Load()
	if read < w.read || read > w.next {
		return ErrGarbage
	}
	if read > w.read {
		w.read, w.free = read, w.ends[(read-1)&uint64(w.mem.shape.Slots-1)]
	}
	return nil
}

// Publish lets the reader see what was written into the memory of the last Reserve. h.Len must be the n of that.
// There is one store that is waited for by nobody, here or elsewhere: who polls takes the line away after each, and it had to come back for the next.
func (w *Writer) Publish(h Header) {
	first, second := pack(h, uint32(w.next+1))
	*w.mem.plain64(w.slot + 8) = second
	w.ends[w.next&uint64(w.mem.shape.Slots-1)] = w.after
	w.data = w.after
	w.next++
	store(w.mem.plain64(w.slot), first)
}

// Small is Reserve, a copy and Publish of a piece that stands in its slot: body has h.Len bytes, at most Inline. ok is false if there is no room as far as this
// end knows: then Reserve looks.
func (w *Writer) Small(h Header, body []byte) (ok bool) {
	m := &w.mem
	if w.next-w.read >= uint64(m.shape.Slots) {
		return false
	}
	w.slot, w.after = m.slot(w.next), w.data
	copy(m.bytes(w.slot+slotHeader, Inline), body)
	w.Publish(h)
	return true
}

// Next is the number of the slot that is published next.
func (w *Writer) Next() uint64 { return w.next }

// Amend changes the first word of the bytes of a slot that was published, unless the reader has given it back as far as this end knows. The piece has that many bytes,
// and stands in its slot.
func (w *Writer) Amend(slot, word uint64) {
	if slot >= w.read {
		w.mem.word64(w.mem.slot(slot) + slotHeader).Swap(word) // an exchange: what is stored next comes after it
	}
}

// Unread is how many slots were published and, as far as was looked, not given back.
func (w *Writer) Unread() int { return int(w.next - w.read) }

// Rouse says whether the reader of this ring sleeps and is to be woken for that, after all that was published is visible.
func (w *Writer) Rouse(what uint32) bool {
	fence(&w.own)
	return Doze{w.mem.word32(offReader)}.Rouse(what)
}

// Freed says whether the reader has given back more than this end knows of.
func (w *Writer) Freed() bool { return w.mem.word64(offRead).Load() != w.read }

// Moved changes whenever more was published, or given back.
func (w *Writer) Moved() uint64 { return w.next + w.mem.word64(offRead).Load() }
