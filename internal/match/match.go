package match

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

// Table is what is posted, and what waits. P is what a want is for, A what arrived. The zero value is empty.
type Table[P, A any] struct {
	seq   uint64
	exact buckets[P]
	other list[P]
	posts int
	spare pool[P]

	tags  buckets[A]
	order list[A]
	waits int
	rest  pool[A]
}

// Posted is the number of wants, Waiting that of arrivals.
func (t *Table[P, A]) Posted() int  { return t.posts }
func (t *Table[P, A]) Waiting() int { return t.waits }

// Arrive takes the want that an arrival satisfies; ok is false if there is none.
func (t *Table[P, A]) Arrive(tag uint64, from any) (p P, ok bool) {
	if t.posts == 0 {
		return p, false
	}
	n := first(t.exact.of(tag).head, tag, from)
	if o := first(t.other.head, tag, from); n == nil || o != nil && o.seq < n.seq {
		n = o
	}
	if n == nil {
		return p, false
	}
	p = n.Value
	t.Cancel(n)
	return p, true
}

// first is the first want in a list that takes it.
func first[P any](n *Node[P], tag uint64, from any) *Node[P] {
	for n != nil && !n.want.Takes(tag, from) {
		n = n.links[byTag].next
	}
	return n
}

// Wait keeps an arrival that nobody wants yet.
func (t *Table[P, A]) Wait(tag uint64, from any, a A) *Node[A] {
	n := t.rest.get()
	n.Value, n.want = a, Want{tag, All, from}
	t.tags.push(n)
	t.order.push(n, byOrder)
	t.waits++
	return n
}

// Find is the earliest arrival that satisfies a want, nil if none does.
func (t *Table[P, A]) Find(w Want) *Node[A] {
	k, n := byOrder, t.order.head
	if w.Mask == All && n != nil {
		k, n = byTag, t.tags.of(w.Tag).head
	}
	for n != nil && !w.Takes(n.want.Tag, n.want.From) {
		n = n.links[k].next
	}
	return n
}

// Oldest is the arrival that waits longest, nil if none does; Next the one after it.
func (t *Table[P, A]) Oldest() *Node[A] { return t.order.head }

// Want is what was posted, or what would take the arrival alone.
func (n *Node[V]) Want() Want { return n.want }

// Next is the arrival after it, nil if it is the last.
func (n *Node[V]) Next() *Node[V] { return n.links[byOrder].next }

// Take takes an arrival out, and says what it was. Its node is another one's then.
func (t *Table[P, A]) Take(n *Node[A]) A {
	a := n.Value
	t.tags.remove(n)
	t.order.remove(n, byOrder)
	t.waits--
	t.rest.put(n)
	return a
}

// Post posts a want that no arrival satisfies.
func (t *Table[P, A]) Post(w Want, p P) *Node[P] {
	n := t.spare.get()
	t.seq++
	n.Value, n.want, n.seq = p, w, t.seq
	if w.Mask == All {
		t.exact.push(n)
	} else {
		t.other.push(n, byTag)
	}
	t.posts++
	return n
}

// Cancel takes a want out that was posted. Its node is another one's then.
func (t *Table[P, A]) Cancel(n *Node[P]) {
	if n.want.Mask == All {
		t.exact.remove(n)
	} else {
		t.other.remove(n, byTag)
	}
	t.posts--
	t.spare.put(n)
}

// CancelAll takes out the wants that gone says are over, in no order that matters, and hands each to ended.
func (t *Table[P, A]) CancelAll(gone func(Want) bool, ended func(P, Want)) {
	sweep := func(l *list[P]) {
		for n := l.head; n != nil; {
			next := n.links[byTag].next
			if gone(n.want) {
				p, w := n.Value, n.want
				t.Cancel(n)
				ended(p, w)
			}
			n = next
		}
	}
	for i := range t.exact.lists {
		sweep(&t.exact.lists[i])
	}
	sweep(&t.other)
}
