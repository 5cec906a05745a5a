package cma

import "time"

// Kind is how the peer gets at a payload that stands where it is.
type Kind uint8

const (
	Foreign Kind = iota // he has the system read it (Reader)
	Mapped              // he has it mapped
	kinds
)

// Book is the large frames of one connection that are under way, in their order. The zero value is ready; Foreign ones are offered from Open on.
type Book struct {
	choosers [kinds]Chooser
	when     When // Foreign ones are
	open     bool
	closed   bool
	list     []entry
	first    int
}

// entry is one frame.
type entry struct {
	index uint64 // among the frames of the connection
	slot  uint64 // where it is offered, if it is in the ring
	size  int
	kind  Kind
	note  note
	read  bool
	out   bool // it is in the ring
	timed bool
}

// Open lets frames be offered from now on, unless it was closed.
func (b *Book) Open(w When) { b.when, b.open = w, w != Never && !b.closed }

// Closed says whether nothing is offered any more, for good.
func (b *Book) Closed() bool { return b.closed }

// IsOpen says whether frames may be offered.
func (b *Book) IsOpen() bool { return b.open }

// Begin says whether the frame with that index is to be offered. It may be asked again before the next one. What is mapped is offered at first, what is not is copied.
func (b *Book) Begin(index uint64, size int, k Kind, now func() time.Duration) (read bool) {
	if n := len(b.list); n > b.first && b.list[n-1].index == index {
		return b.list[n-1].read && b.list[n-1].kind == k
	}
	e := entry{index: index, size: size, kind: k, read: true}
	if e.timed = k == Mapped || b.when == Measured; e.timed {
		var other bool
		other, e.note = b.choosers[k].next(now)
		e.read = other != (k == Mapped)
	}
	if b.first == len(b.list) {
		b.list, b.first = b.list[:0], 0
	} else if n := len(b.list); b.first > n/2 && n == cap(b.list) {
		b.list, b.first = b.list[:copy(b.list, b.list[b.first:])], 0
	}
	b.list = append(b.list, e)
	return e.read
}

// Offered notes where the frame that Begin was asked for last is offered.
func (b *Book) Offered(slot uint64) {
	e := &b.list[len(b.list)-1]
	e.slot, e.out = slot, true
}

// Acked ends all before a position, in turn.
func (b *Book) Acked(position uint64, now func() time.Duration) {
	n := b.first
	var sizes [kinds]int
	for ; n < len(b.list) && b.list[n].index < position; n++ {
		if e := &b.list[n]; e.timed {
			sizes[e.kind] += e.size
		}
	}
	for k, size := range sizes {
		if size == 0 {
			continue
		}
		c := &b.choosers[k]
		took := float64(c.lap(now())) / float64(size)
		for _, e := range b.list[b.first:n] {
			if e.timed && int(e.kind) == k {
				c.acked(e.note, e.size, time.Duration(took*float64(e.size)))
			}
		}
	}
	b.first = n
}

// Offers are the frames that are offered and not acknowledged: index and slot.
func (b *Book) Offers(yield func(index, slot uint64) bool) {
	for _, e := range b.list[b.first:] {
		if e.read && e.out && !yield(e.index, e.slot) {
			return
		}
	}
}

// First is the first of them.
func (b *Book) First() (index uint64, ok bool) {
	for i := b.first; i < len(b.list); i++ {
		if e := &b.list[i]; e.read && e.out {
			return e.index, true
		}
	}
	return 0, false
}

// Close ends the offers: none is made any more, and those that there are count for nothing.
func (b *Book) Close() { *b = Book{closed: true} }
