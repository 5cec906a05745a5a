package inbox

import (
	"sync"
	"sync/atomic"
)

// Of is where handlers leave what the loop is to look at: in Shared mode they run in another goroutine.
type Of[T any] struct {
	n  atomic.Int32
	mu sync.Mutex
	in []T
}

// Put leaves one, from any goroutine.
func (q *Of[T]) Put(v T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.in = append(q.in, v)
	q.n.Store(int32(len(q.in)))
}

// Take returns the oldest; ok is false if there is none, which costs one load.
func (q *Of[T]) Take() (v T, ok bool) {
	if q.n.Load() == 0 {
		return v, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	v = q.in[0]
	q.in = append(q.in[:0], q.in[1:]...)
	q.n.Store(int32(len(q.in)))
	return v, true
}
