package ring

// Reader is the end that empties a ring.
type Reader struct {
	mem  memory
	next uint64 // slot
	data uint64 // where the last piece ended
	told uint64 // slots given back
	from uint64 // where the last piece that was given back ended

	after uint64 // where the piece that Next returned ends
}

// NewReader makes the reading end over mem, which was all zero when the writer began.
func NewReader(mem []byte, s Shape) (*Reader, error) {
	m, err := over(mem, s)
	if err != nil {
		return nil, err
	}
	return &Reader{mem: m}, nil
}

// Ready says whether Next has something, good or bad.
func (r *Reader) Ready() bool {
	return uint32(r.mem.word64(r.mem.slot(r.next)).Load()) != r.before()
}

// before is the sequence number that stands in the next slot until it is published.
func (r *Reader) before() uint32 {
	if r.next < uint64(r.mem.shape.Slots) {
		return 0
	}
	return uint32(r.next + 1 - uint64(r.mem.shape.Slots))
}

// Next returns the next piece: body is its Len bytes, in shared memory, where the writer may change them still. It stays
// the next one until Done. ok is false if nothing is there.
//
// Errors: ErrGarbage.
func (r *Reader) Next() (h Header, body []byte, ok bool, err error) {
	slot := r.mem.slot(r.next)
	first := r.mem.word64(slot).Load()
	if uint32(first) != uint32(r.next+1) {
		if uint32(first) != r.before() {
			return h, nil, false, ErrGarbage
		}
		return h, nil, false, nil
	}
	h = unpack(first, r.mem.word64(slot+8).Load())
	var at uint64
	at, r.after = r.mem.shape.place(r.data, h.Len())
	return h, r.mem.body(slot, at, h.Len()), true, nil
}

// Ahead has the line of the slot behind the next one come, which is looked at as soon as this one is done: the writer's processor has it, or the memory, and
// nobody has to wait for it then.
func (r *Reader) Ahead() { fetch(r.mem.plain64(r.mem.slot(r.next + 1))) }

// Word is the first word of the bytes of the piece that Next returned, which stands in its slot, as it is now: the writer may Amend it.
func (r *Reader) Word() uint64 { return r.mem.word64(r.mem.slot(r.next) + slotHeader).Load() }

// Done gives the piece back that Next returned. credited: the writer was told, and may have room again.
func (r *Reader) Done() (credited bool) {
	r.data = r.after
	r.next++
	s := &r.mem.shape
	if r.next-r.told < uint64(s.Slots/4) && r.data-r.from < uint64(s.Data/4) {
		return false
	}
	r.told, r.from = r.next, r.data
	r.mem.word64(offRead).Store(r.next)
	return true
}

// Self is this reader's own word for who writes: whether it sleeps.
func (r *Reader) Self() Doze { return Doze{r.mem.word32(offReader)} }
