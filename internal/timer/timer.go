package timer

import (
	"container/heap"
	"time"
)

// Timer calls a function from a turn once its time has come. Equal times go in the order in which they were set.
type Timer struct {
	at    time.Duration
	seq   uint64
	fn    func()
	index int // in the heap, -1: not set
}

// New makes a timer that is not set.
func New(fn func()) *Timer { return &Timer{fn: fn, index: -1} }

// Pending says whether the timer is set. A nil one isn't.
func (t *Timer) Pending() bool { return t != nil && t.index >= 0 }

// Set is the timers of one owner.
type Set struct {
	heap order
	seq  uint64
}

type order []*Timer

func (h order) Len() int { return len(h) }
func (h order) Less(i, j int) bool {
	a, b := h[i], h[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (h order) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *order) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *order) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// Set (re)arms t.
func (ts *Set) Set(t *Timer, at time.Duration) {
	ts.Stop(t)
	ts.seq++
	t.at, t.seq = at, ts.seq
	heap.Push(&ts.heap, t)
}

// Stop disarms t. It may be nil, or not set.
func (ts *Set) Stop(t *Timer) {
	if t.Pending() {
		heap.Remove(&ts.heap, t.index)
	}
}

// Run calls what is due and returns how many.
func (ts *Set) Run(now time.Duration) (n int) {
	for len(ts.heap) > 0 && ts.heap[0].at <= now {
		t := heap.Pop(&ts.heap).(*Timer)
		t.fn()
		n++
	}
	return n
}

// Next is when the first timer is due; 0 if there is none.
func (ts *Set) Next() time.Duration {
	if len(ts.heap) == 0 {
		return 0
	}
	return max(1, ts.heap[0].at)
}

// Due is when the timer calls; false if it is not set. A nil one isn't.
func (t *Timer) Due() (time.Duration, bool) {
	if !t.Pending() {
		return 0, false
	}
	return t.at, true
}
