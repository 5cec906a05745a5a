package order

// Book counts unexecuted operations by epoch. The zero value is ready.
type Book struct {
	base   uint64   // epoch of counts[head]
	cur    uint64   // epoch of new operations
	counts []uint32 // ring, power of two; epochs base..cur
	head   int

	issued, retired uint64
}

func (b *Book) slot(epoch uint64) *uint32 {
	return &b.counts[(b.head+int(epoch-b.base))&(len(b.counts)-1)]
}

// Current is the epoch of operations issued now.
func (b *Book) Current() uint64 { return b.cur }

// Issue puts a new operation into the current epoch and returns it.
func (b *Book) Issue() uint64 {
	if b.counts == nil {
		b.counts = make([]uint32, 8)
	}
	*b.slot(b.cur)++
	b.issued++
	return b.cur
}

// Retire takes an operation of the given epoch out, and says whether that emptied its epoch,
// so that a flush may be done.
func (b *Book) Retire(epoch uint64) bool {
	c := b.slot(epoch)
	if epoch < b.base || epoch > b.cur || *c == 0 {
		panic("order: operation retired twice")
	}
	*c--
	b.retired++
	if *c != 0 {
		return false
	}
	for b.base < b.cur && b.counts[b.head] == 0 {
		b.head = (b.head + 1) & (len(b.counts) - 1)
		b.base++
	}
	return true
}

// Cut ends the current epoch, unless it is empty, and returns the last epoch that a flush issued now must wait for.
// With nothing unexecuted the answer is one for which Done is true.
func (b *Book) Cut() (epoch uint64, nothing bool) {
	if b.Unexecuted() == 0 {
		return 0, true
	}
	if *b.slot(b.cur) == 0 {
		return b.cur - 1, false // the last cut stands
	}
	if int(b.cur-b.base)+1 == len(b.counts) {
		b.grow()
	}
	b.cur++
	*b.slot(b.cur) = 0
	return b.cur - 1, false
}

func (b *Book) grow() {
	counts := make([]uint32, 2*len(b.counts))
	for e := b.base; e <= b.cur; e++ {
		counts[e-b.base] = *b.slot(e)
	}
	b.counts, b.head = counts, 0
}

// Done says whether nothing is left of the epochs up to and with the given one.
func (b *Book) Done(epoch uint64) bool {
	return epoch < b.base || b.Unexecuted() == 0
}

// Unexecuted is the number of operations that are issued and not retired.
func (b *Book) Unexecuted() uint64 { return b.issued - b.retired }

// Issued is the number of operations ever issued.
func (b *Book) Issued() uint64 { return b.issued }
