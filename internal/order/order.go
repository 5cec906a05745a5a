package order

import "sort"

// Fences counts the fences of a worker. Its books look at it whenever something is issued, so that to fence is to count.
type Fences struct{ n uint64 }

// Fence puts a fence into each book.
func (f *Fences) Fence() { f.n++ }

// Book is the record of one endpoint. Make it with New.
type Book struct {
	Off   Place // on no lane
	lanes []*Place

	cur    uint64 // epoch of what is issued now
	used   bool   // something was issued in it
	issued uint64

	fences []uint64 // epochs that begin with a fence, from first on: those that may have something before them
	first  int
	fence  uint64 // of the current epoch: the last of them, 0 if nothing is before it

	worker *Fences
	seen   uint64 // fences of the worker
}

// New makes an empty book.
func New(w *Fences) *Book { return &Book{worker: w, seen: w.n, cur: 1} }

// Open adds the place of a lane instance.
func (b *Book) Open(p *Place) { b.lanes = append(b.lanes, p) }

// Shut takes an empty place away.
func (b *Book) Shut(p *Place) {
	if p.n > 0 {
		panic("order: a place is shut with something in it")
	}
	for i, o := range b.lanes {
		if o == p {
			b.lanes = append(b.lanes[:i], b.lanes[i+1:]...)
			return
		}
	}
}

// Barrier is the fence before what is issued now: all of earlier epochs must be executed before. 0: none.
func (b *Book) Barrier() uint64 {
	if b.seen != b.worker.n {
		b.seen = b.worker.n
		b.Fence()
	}
	return b.fence
}

// Current is the epoch of what is issued now. Ask for the Barrier first.
func (b *Book) Current() uint64 { return b.cur }

// Issue puts a new operation at p, in the current epoch, and returns that.
func (b *Book) Issue(p *Place) uint64 {
	p.Enter(b.cur)
	b.used = true
	b.issued++
	return b.cur
}

// Issued is the number of operations ever issued.
func (b *Book) Issued() uint64 { return b.issued }

// Cut ends the current epoch, unless nothing was issued in it, and returns the last epoch that a flush issued now must wait
// for; nothing says that nothing of it is unexecuted.
func (b *Book) Cut() (epoch uint64, nothing bool) {
	b.next()
	return b.cur - 1, b.low() == none
}

func (b *Book) next() {
	if b.used {
		b.cur++
		b.used = false
	}
}

// Fence keeps what is issued from now on behind what was issued before. With nothing unexecuted there is nothing to keep apart.
func (b *Book) Fence() {
	low := b.low()
	for b.first < len(b.fences) && b.fences[b.first] <= low {
		b.first++
	}
	if low == none {
		b.fence = 0
		return
	}
	b.next()
	if b.fence == b.cur {
		return
	}
	switch n := len(b.fences); {
	case b.first == n || n == cap(b.fences) && b.first > n/2:
		b.fences = b.fences[:copy(b.fences, b.fences[b.first:])]
		b.first = 0
	case n == cap(b.fences):
		b.prune()
	}
	b.fences = append(b.fences, b.cur)
	b.fence = b.cur
}

// prune makes room for one more fence. One behind which nothing is left until the next does not matter any more.
func (b *Book) prune() {
	left := b.fences[:0]
	for i, f := range b.fences[b.first:] {
		next := b.cur
		if k := b.first + i + 1; k < len(b.fences) {
			next = b.fences[k]
		}
		if b.within(f, next) {
			left = append(left, f)
		}
	}
	if size := cap(left); len(left) >= size/2 {
		left = append(make([]uint64, 0, max(8, 2*size)), left...)
	}
	b.fences, b.first = left, 0
}

// within says whether something is left of the epochs from one up to another.
func (b *Book) within(from, to uint64) bool {
	if b.Off.within(from, to) {
		return true
	}
	for _, p := range b.lanes {
		if p.within(from, to) {
			return true
		}
	}
	return false
}

// BarrierOf is the fence before an epoch of which something is left, 0 if there is none or all before it was found executed.
func (b *Book) BarrierOf(epoch uint64) uint64 {
	fs := b.fences[b.first:]
	i := sort.Search(len(fs), func(i int) bool { return fs[i] > epoch })
	if i == 0 {
		return 0
	}
	return fs[i-1]
}

// Sole looks for what is of before a barrier: free if there is nothing, the only place that has such, or nil if several have.
func (b *Book) Sole(barrier uint64) (at *Place, free bool) {
	if b.Off.First() < barrier {
		at = &b.Off
	}
	for _, p := range b.lanes {
		if p.First() >= barrier {
			continue
		}
		if at != nil {
			return nil, false
		}
		at = p
	}
	if at == nil && barrier == b.fence {
		b.fence = 0 // passed, for all of this epoch
	}
	return at, at == nil
}

// MayPost is R12: what has this barrier may be posted at p if all before it is executed, or at p as well and p is in order.
func (b *Book) MayPost(barrier uint64, p *Place) bool {
	at, free := b.Sole(barrier)
	return free || at == p && p.InOrder && p != &b.Off
}

// Done says whether nothing is left of the epochs up to and with the given one.
func (b *Book) Done(epoch uint64) bool { return b.low() > epoch }

// Left is how much the places have, all together.
func (b *Book) Left() uint64 {
	n := b.Off.n
	for _, p := range b.lanes {
		n += p.n
	}
	return n
}

// low is the first epoch of which something is left.
func (b *Book) low() uint64 {
	e := b.Off.First()
	for _, p := range b.lanes {
		e = min(e, p.First())
	}
	return e
}
