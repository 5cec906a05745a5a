package books

// numbers are 31 bits: rdma/verbs keeps one to tell receives from sends.
const numbers = 1<<31 - 1

// Entry is one posted work request.
type Entry struct {
	ID     uint64
	Object any    // window or address handle that it names
	Addr   uint64 // where its first piece of memory begins
	Marker bool   // posted by rdma/verbs for itself

	keys int
}

// Queue is one work queue.
type Queue struct {
	ring       []Entry  // a power of two, by number
	keys       []uint32 // pieces of each slot
	pieces     int
	depth      int
	head, tail uint32
	objects    int // entries with an Object
	marked     bool
}

// New makes one for depth requests of so many pieces each, and a marker.
func New(depth, pieces int) *Queue {
	slots := 1
	for slots < depth+1 {
		slots *= 2
	}
	pieces = max(1, pieces)
	return &Queue{ring: make([]Entry, slots), keys: make([]uint32, slots*pieces), pieces: pieces, depth: depth}
}

// Len is how many are posted and not known to be over.
func (q *Queue) Len() int { return int((q.head - q.tail) & numbers) }

// Room is how many more may be posted.
func (q *Queue) Room() int { return max(0, q.depth-q.Len()) }

func (q *Queue) slot(number uint32) int { return int(number) & (len(q.ring) - 1) }

// Put notes a request. There must be Room, or for the one marker a slot.
func (q *Queue) Put(e Entry) (number uint32) {
	number = q.head
	e.keys = 0
	q.ring[q.slot(number)] = e
	if e.Object != nil {
		q.objects++
	}
	q.marked = q.marked || e.Marker
	q.head = (q.head + 1) & numbers
	return number
}

// Key notes a key that the request put last names.
func (q *Queue) Key(key uint32) {
	i := q.slot((q.head - 1) & numbers)
	q.keys[i*q.pieces+q.ring[i].keys] = key
	q.ring[i].keys++
}

// First is the first key of a request, 0 if it has none.
func (q *Queue) First(number uint32) uint32 {
	if i := q.slot(number); q.ring[i].keys > 0 {
		return q.keys[i*q.pieces]
	}
	return 0
}

// Last is the object of the request that was put last.
func (q *Queue) Last() any { return q.ring[q.slot((q.head-1)&numbers)].Object }

// TakeBack forgets the last n: they were not posted after all.
func (q *Queue) TakeBack(n int) {
	for range n {
		q.head = (q.head - 1) & numbers
		q.forget(q.head)
	}
}

// Done says that a request is over, and so all that were posted before it. False: it was already.
func (q *Queue) Done(number uint32) (Entry, bool) {
	n := int((number - q.tail) & numbers)
	if n >= q.Len() {
		return Entry{}, false
	}
	e := q.ring[q.slot(number)]
	for ; n >= 0; n-- {
		q.forget(q.tail)
		q.tail = (q.tail + 1) & numbers
	}
	return e, true
}

// forget lets go of what a request names.
func (q *Queue) forget(number uint32) {
	e := &q.ring[q.slot(number)]
	if e.Object != nil {
		e.Object = nil
		q.objects--
	}
	if e.Marker {
		q.marked = false
	}
}

// Clear gives everything back.
func (q *Queue) Clear() {
	for q.tail != q.head {
		q.forget(q.tail)
		q.tail = (q.tail + 1) & numbers
	}
}

// Marked says whether a marker is under way.
func (q *Queue) Marked() bool { return q.marked }

// Names says whether a request that isn't over names a key.
func (q *Queue) Names(key uint32) bool {
	for n := q.tail; n != q.head; n = (n + 1) & numbers {
		i := q.slot(n)
		for _, k := range q.keys[i*q.pieces:][:q.ring[i].keys] {
			if k == key {
				return true
			}
		}
	}
	return false
}

// Holds says whether a request that isn't over names an object.
func (q *Queue) Holds(object any) bool {
	if q.objects == 0 {
		return false
	}
	for n := q.tail; n != q.head; n = (n + 1) & numbers {
		if q.ring[q.slot(n)].Object == object {
			return true
		}
	}
	return false
}
