package self

import "github.com/openbraid/braid/transport"

const (
	// controlRoom is how many bytes of control frames may wait for an endpoint; a single larger one is taken too.
	controlRoom = 64 << 10
	// controlCost is what a control frame counts beyond its bytes, so that empty ones are bounded too.
	controlCost = 64
)

// message is one control frame on its way.
type message struct {
	buf        *transport.Buffer
	head, size int
	id         uint8
}

// inbox is the control frames that wait for an endpoint, oldest first.
type inbox struct {
	list  []message
	first int
	bytes int
}

func (q *inbox) len() int { return len(q.list) - q.first }

// fits says whether a frame of size bytes may be added.
func (q *inbox) fits(size int) bool { return q.bytes == 0 || q.bytes+size+controlCost <= controlRoom }

func (q *inbox) push(m message) {
	if q.first > 0 && len(q.list) == cap(q.list) { // room in front rather than a larger list
		n := copy(q.list, q.list[q.first:])
		clear(q.list[n:])
		q.list, q.first = q.list[:n], 0
	}
	q.list = append(q.list, m)
	q.bytes += m.size + controlCost
}

func (q *inbox) pop() message {
	m := q.list[q.first]
	q.list[q.first] = message{}
	if q.first++; q.first == len(q.list) {
		q.list, q.first = q.list[:0], 0
	}
	q.bytes -= m.size + controlCost
	return m
}

// drop lets go of everything.
func (q *inbox) drop(p *pool) {
	for q.len() > 0 {
		p.give(q.pop().buf)
	}
	*q = inbox{}
}
