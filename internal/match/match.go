package match

import (
	"cmp"
	"slices"
)

// All are the bits of a mask that lets only one tag pass.
const All uint64 = 1<<64 - 1

// Want is what is to be received: a tag that is Tag in the bits of Mask, from From if that isn't nil.
type Want struct {
	Tag, Mask uint64
	From      any
}

// Takes says whether an arrival satisfies the want.
func (w Want) Takes(tag uint64, from any) bool {
	return (tag^w.Tag)&w.Mask == 0 && (w.From == nil || w.From == from)
}

// Table is what is posted, and what waits. P is what a want is for, A what arrived. The zero value is empty, and its seed is one that everybody knows.
type Table[P, A any] struct {
	senders senders[P, A]

	seq   uint64
	exact buckets[P] // by tag
	alone buckets[P] // by tag and sender
	other list[P]    // any sender's, of more than one tag
	posts int
	froms int // of these, wants for one sender alone
	spare pool[P]

	tags  buckets[A]
	order list[A]
	waits int
	rest  pool[A]
}

// Sow sets the seed of an empty table.
func (t *Table[P, A]) Sow(s Seed) { t.exact.seed, t.alone.seed, t.tags.seed = s, s, s }

// Posted is the number of wants, Waiting that of arrivals.
func (t *Table[P, A]) Posted() int  { return t.posts }
func (t *Table[P, A]) Waiting() int { return t.waits }

// Arrive takes the want that an arrival satisfies; ok is false if there is none.
func (t *Table[P, A]) Arrive(tag uint64, from any) (p P, ok bool) {
	if t.posts == 0 {
		return p, false
	}
	n := first(t.other.head, tag, from)
	if t.exact.n > 0 {
		n = earlier(n, first(t.exact.of(tag).head, tag, from))
	}
	if t.froms > 0 {
		n = earlier(n, t.foremost(tag, from))
	}
	if n == nil {
		return p, false
	}
	p = n.Value
	t.Cancel(n)
	return p, true
}

// foremost is the earliest want that takes it of those for its sender alone.
func (t *Table[P, A]) foremost(tag uint64, from any) *Node[P] {
	s := t.senders.of(from)
	if s == nil {
		return nil
	}
	n := first(s.posted.head, tag, from)
	if t.alone.n > 0 {
		n = earlier(n, first(t.alone.of(s.key(tag)).head, tag, from))
	}
	return n
}

// first is the first want in a list that takes it.
func first[P any](n *Node[P], tag uint64, from any) *Node[P] {
	for n != nil && !n.want.Takes(tag, from) {
		n = n.links[byTag].next
	}
	return n
}

// earlier is the one that was posted earlier. Either may be nil.
func earlier[P any](a, b *Node[P]) *Node[P] {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}

// Wait keeps an arrival that nobody wants yet.
func (t *Table[P, A]) Wait(tag uint64, from any, a A) *Node[A] {
	n := t.rest.get()
	n.Value, n.want, n.key = a, Want{tag, All, from}, tag
	t.tags.push(n)
	t.order.push(n, byOrder)
	t.senders.use(from).waits.push(n, bySender)
	t.waits++
	return n
}

// Find is the earliest arrival that satisfies a want, nil if none does.
func (t *Table[P, A]) Find(w Want) *Node[A] {
	if t.waits == 0 {
		return nil
	}
	n, k := t.order.head, byOrder
	if w.Mask == All {
		n, k = t.tags.of(w.Tag).head, byTag
	}
	if w.From == nil {
		for n != nil && !w.Takes(n.want.Tag, n.want.From) {
			n = n.links[k].next
		}
		return n
	}
	s := t.senders.of(w.From)
	if s == nil {
		return nil
	}
	// What it is satisfied by is in both lists, and the earliest is in both the first that is: so it costs no more than in the list where less is before it.
	for m := s.waits.head; m != nil && n != nil; m, n = m.links[bySender].next, n.links[k].next {
		if w.Takes(m.want.Tag, m.want.From) {
			return m
		}
		if w.Takes(n.want.Tag, n.want.From) {
			return n
		}
	}
	return nil
}

// Oldest is the arrival that waits longest, nil if none does; Next the one after it.
func (t *Table[P, A]) Oldest() *Node[A] { return t.order.head }

// Want is what was posted, or what would take the arrival alone.
func (n *Node[V]) Want() Want { return n.want }

// Next is the arrival after it, nil if it is the last.
func (n *Node[V]) Next() *Node[V] { return n.links[byOrder].next }

// OldestOf is the arrival of a sender that waits longest, nil if none does; NextOf the one of its sender after it.
func (t *Table[P, A]) OldestOf(from any) *Node[A] {
	if s := t.senders.of(from); s != nil {
		return s.waits.head
	}
	return nil
}

// NextOf is nil if it is the last.
func (n *Node[V]) NextOf() *Node[V] { return n.links[bySender].next }

// Take takes an arrival out, and says what it was. Its node is another one's then.
func (t *Table[P, A]) Take(n *Node[A]) A {
	a := n.Value
	t.tags.remove(n)
	t.order.remove(n, byOrder)
	s := t.senders.of(n.want.From)
	s.waits.remove(n, bySender)
	t.senders.done(s)
	t.waits--
	t.rest.put(n)
	return a
}

// Post posts a want that no arrival satisfies.
func (t *Table[P, A]) Post(w Want, p P) *Node[P] {
	n := t.spare.get()
	t.seq++
	n.Value, n.want, n.seq, n.key = p, w, t.seq, w.Tag
	t.posts++
	if w.From == nil {
		if w.Mask == All {
			t.exact.push(n)
		} else {
			t.other.push(n, byTag)
		}
		return n
	}
	t.froms++
	s := t.senders.use(w.From)
	if n.key = s.key(w.Tag); w.Mask == All {
		t.alone.push(n)
	} else {
		s.posted.push(n, byTag)
	}
	return n
}

// Cancel takes a want out that was posted. Its node is another one's then.
func (t *Table[P, A]) Cancel(n *Node[P]) {
	t.posts--
	if n.want.From != nil {
		t.froms--
		s := t.senders.of(n.want.From)
		if n.want.Mask == All {
			t.alone.remove(n)
		} else {
			s.posted.remove(n, byTag)
		}
		t.senders.done(s)
	} else if n.want.Mask == All {
		t.exact.remove(n)
	} else {
		t.other.remove(n, byTag)
	}
	t.spare.put(n)
}

// CancelAll takes out the wants that gone says are over, in the order of posting, and hands each to ended, which must not come back here.
func (t *Table[P, A]) CancelAll(gone func(Want) bool, ended func(P, Want)) {
	var over []*Node[P]
	sweep := func(l *list[P]) {
		for n := l.head; n != nil; n = n.links[byTag].next {
			if gone(n.want) {
				over = append(over, n)
			}
		}
	}
	for _, b := range []*buckets[P]{&t.exact, &t.alone} {
		for i := range b.lists {
			sweep(&b.lists[i])
		}
	}
	sweep(&t.other)
	for _, s := range t.senders.all {
		sweep(&s.posted)
	}
	slices.SortFunc(over, func(a, b *Node[P]) int { return cmp.Compare(a.seq, b.seq) })
	for _, n := range over {
		p, w := n.Value, n.want
		t.Cancel(n)
		ended(p, w)
	}
}
