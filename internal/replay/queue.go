package replay

import (
	"slices"

	"github.com/openbraid/braid/transport"
)

// Queue is frames in the order of their posting. What was lost later was posted earlier than what still waits for its first replay, or is of another
// lane and has no order with it: it goes in front. The zero value is empty.
type Queue struct{ frames []*Frame }

// Len is how many there are, All are they, in order.
func (q *Queue) Len() int      { return len(q.frames) }
func (q *Queue) All() []*Frame { return q.frames }

// Push appends one.
func (q *Queue) Push(f *Frame) { q.frames = append(q.frames, f) }

// Pop takes the first one out.
func (q *Queue) Pop() (f *Frame) {
	f, q.frames[0] = q.frames[0], nil
	q.frames = q.frames[1:]
	return f
}

// Prepend puts all of another queue in front.
func (q *Queue) Prepend(o *Queue) {
	if len(o.frames) > 0 {
		q.frames = append(o.frames, q.frames...)
	}
}

// Own copies what is still its user's in those that match.
func (q *Queue) Own(match func(transport.Completer) bool) {
	for _, f := range q.frames {
		if match(f) {
			f.Own()
		}
	}
}

// Count is how many of them match.
func (q *Queue) Count(match func(*Frame) bool) (n int) {
	for _, f := range q.frames {
		if match(f) {
			n++
		}
	}
	return n
}

// Remove takes those out that match, in order.
func (q *Queue) Remove(match func(*Frame) bool) (out []*Frame) {
	q.frames = slices.DeleteFunc(q.frames, func(f *Frame) bool {
		if match(f) {
			out = append(out, f)
			return true
		}
		return false
	})
	return out
}
