package outbox

import (
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
)

// run is bytes that wait: a few whole frames in the chunk, which make one segment, or one frame too large for that in memory of its own,
// which makes several.
type run struct {
	b      *queue.Block // held by the run
	at, to int          // what waits of it
	whole  bool         // whole frames; else one frame, in parts
	begun  bool         // a part of it is under way
	frame  uint64       // number of the last data frame in it
	key    *window.Key  // the peer is to read its payload with it, if it can be had; nil: it is sent
	head   int          // of an offer: where the payload begins
}

// fifo is a list of runs, first in first out.
type fifo struct {
	runs  []run
	head  int
	bytes int
}

func (q *fifo) empty() bool { return q.head == len(q.runs) }
func (q *fifo) first() *run { return &q.runs[q.head] }

func (q *fifo) push(r run) {
	r.b.Retain()
	q.bytes += r.to - r.at
	q.runs = append(q.runs, r)
}

// last is the run that may still grow, nil if there is none.
func (q *fifo) last() *run {
	if q.empty() {
		return nil
	}
	return &q.runs[len(q.runs)-1]
}

func (q *fifo) pop() {
	q.first().b.Release()
	*q.first() = run{}
	if q.head++; q.head == len(q.runs) {
		q.runs, q.head = q.runs[:0], 0
	} else if q.head > 64 && q.head > len(q.runs)/2 {
		k := copy(q.runs, q.runs[q.head:])
		clear(q.runs[k:])
		q.runs, q.head = q.runs[:k], 0
	}
}

func (q *fifo) drop() {
	for !q.empty() {
		q.pop()
	}
	*q = fifo{}
}
