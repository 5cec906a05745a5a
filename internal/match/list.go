package match

import "math/bits"

// Node is a want that is posted, or an arrival that waits.
type Node[V any] struct {
	Value V
	want  Want // of an arrival: its tag, all bits, and its sender
	seq   uint64
	key   uint64 // of the bucket that it is in
	links [3]links[V]
}

// Tag and From are those of an arrival.
func (n *Node[V]) Tag() uint64 { return n.want.Tag }
func (n *Node[V]) From() any   { return n.want.From }

type links[V any] struct{ prev, next *Node[V] }

// The lists that a node may be in: a want in the first alone, that of its bucket or of its kind.
const (
	byTag    = 0
	byOrder  = 1
	bySender = 2
)

// list is one of them, oldest first.
type list[V any] struct{ head, tail *Node[V] }

func (l *list[V]) push(n *Node[V], k int) {
	n.links[k] = links[V]{prev: l.tail}
	if l.tail == nil {
		l.head = n
	} else {
		l.tail.links[k].next = n
	}
	l.tail = n
}

func (l *list[V]) remove(n *Node[V], k int) {
	p := &n.links[k]
	if p.prev == nil {
		l.head = p.next
	} else {
		p.prev.links[k].next = p.next
	}
	if p.next == nil {
		l.tail = p.prev
	} else {
		p.next.links[k].prev = p.prev
	}
	*p = links[V]{}
}

// Seed is by what tags are spread over buckets. Peers choose tags: who doesn't know it can't choose those that are all in one.
type Seed [2]uint64

// buckets are lists by key.
type buckets[V any] struct {
	lists []list[V]
	n     int
	seed  Seed
}

const fewest = 64 // buckets

func (b *buckets[V]) of(key uint64) *list[V] {
	if b.lists == nil {
		b.lists = make([]list[V], fewest)
	}
	return &b.lists[b.seed.spread(key)&uint64(len(b.lists)-1)]
}

// spread is the mix of wyhash: both halves of a product with what nobody knows.
func (s *Seed) spread(key uint64) uint64 {
	hi, lo := bits.Mul64(key^s[0]^0xa0761d6478bd642f, s[1]^0xe7037ed1a0b428db)
	return hi ^ lo
}

func (b *buckets[V]) push(n *Node[V]) {
	if b.n++; b.n > 2*len(b.lists) && b.lists != nil {
		b.grow()
	}
	b.of(n.key).push(n, byTag)
}

func (b *buckets[V]) remove(n *Node[V]) {
	b.n--
	b.of(n.key).remove(n, byTag)
}

// grow doubles the buckets: what is in one of the new ones was in one of the old, so its order stays.
func (b *buckets[V]) grow() {
	old := b.lists
	b.lists = make([]list[V], 4*len(old))
	for i := range old {
		for n := old[i].head; n != nil; {
			next := n.links[byTag].next
			b.of(n.key).push(n, byTag)
			n = next
		}
	}
}

// pool is nodes to be used again.
type pool[V any] struct{ free *Node[V] }

func (p *pool[V]) get() *Node[V] {
	n := p.free
	if n == nil {
		return &Node[V]{}
	}
	p.free = n.links[byTag].next
	n.links[byTag].next = nil
	return n
}

func (p *pool[V]) put(n *Node[V]) {
	*n = Node[V]{}
	n.links[byTag].next = p.free
	p.free = n
}
