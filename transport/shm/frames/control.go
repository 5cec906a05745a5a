package frames

import "github.com/openbraid/braid/transport/shm/ring"

// keepControl of the memory of control frames is kept.
const keepControl = 64 << 10

// Queue is control frames that wait for the ring, and their bytes. The zero value is empty.
type Queue struct {
	bytes   []byte
	off     int // before it is in the ring
	waiting []ring.Header
	first   int // frames before it are in the ring
	begun   int // bytes of that frame that are
}

// Push puts a frame in line, of which head and payload are copied.
func (q *Queue) Push(h ring.Header, head, payload []byte) {
	q.bytes = append(append(q.bytes, head...), payload...)
	q.waiting = append(q.waiting, h)
}

// Len is how many bytes wait.
func (q *Queue) Len() int { return len(q.bytes) - q.off }

// Frames is how many frames wait, a begun one too.
func (q *Queue) Frames() int { return len(q.waiting) - q.first }

// Next is the next piece, if there is one: its header, with more among its flags unless it is a frame's first, and its bytes.
func (q *Queue) Next(more uint8) (h ring.Header, body []byte, ok bool) {
	if q.first == len(q.waiting) {
		return h, nil, false
	}
	h = q.waiting[q.first]
	if q.begun > 0 {
		h.Flags |= more
	}
	h.Size -= uint32(q.begun)
	return h, q.bytes[q.off:][:h.Len()], true
}

// Written notes that the piece is in the ring, and says whether nothing waits any more.
func (q *Queue) Written(n int) (empty bool) {
	q.off += n
	if q.begun += n; q.begun < int(q.waiting[q.first].Size) {
		return false
	}
	q.begun = 0
	if q.first++; q.first < len(q.waiting) {
		return false
	}
	q.waiting, q.first, q.off = q.waiting[:0], 0, 0
	if q.bytes = q.bytes[:0]; cap(q.bytes) > keepControl {
		*q = Queue{}
	}
	return true
}
