package worker

import (
	"container/heap"
	"time"
)

// timer calls fn from a turn once its time has come. Equal times go in the order in which they were set.
type timer struct {
	at    time.Duration
	seq   uint64
	fn    func()
	index int // in the heap, -1: not set
}

func newTimer(fn func()) *timer { return &timer{fn: fn, index: -1} }

func (t *timer) pending() bool { return t != nil && t.index >= 0 }

type timers struct {
	heap []*timer
	seq  uint64
}

func (ts *timers) Len() int { return len(ts.heap) }
func (ts *timers) Less(i, j int) bool {
	a, b := ts.heap[i], ts.heap[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (ts *timers) Swap(i, j int) {
	ts.heap[i], ts.heap[j] = ts.heap[j], ts.heap[i]
	ts.heap[i].index, ts.heap[j].index = i, j
}
func (ts *timers) Push(x any) {
	t := x.(*timer)
	t.index = len(ts.heap)
	ts.heap = append(ts.heap, t)
}
func (ts *timers) Pop() any {
	t := ts.heap[len(ts.heap)-1]
	ts.heap[len(ts.heap)-1] = nil
	ts.heap = ts.heap[:len(ts.heap)-1]
	t.index = -1
	return t
}

// set (re)arms t.
func (ts *timers) set(t *timer, at time.Duration) {
	ts.stop(t)
	ts.seq++
	t.at, t.seq = at, ts.seq
	heap.Push(ts, t)
}

func (ts *timers) stop(t *timer) {
	if t.pending() {
		heap.Remove(ts, t.index)
	}
}

// run calls what is due and returns how many.
func (ts *timers) run(now time.Duration) (n int) {
	for len(ts.heap) > 0 && ts.heap[0].at <= now {
		t := heap.Pop(ts).(*timer)
		t.fn()
		n++
	}
	return n
}

// next is when the first timer is due; 0 if there is none.
func (ts *timers) next() time.Duration {
	if len(ts.heap) == 0 {
		return 0
	}
	return max(1, ts.heap[0].at)
}
