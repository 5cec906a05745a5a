package carrier

import (
	"container/heap"
	"time"
)

// Late is what goes on later: the sooner due first, and of what is due at the same time what was added first. The zero value is empty.
type Late[T any] struct {
	of  lates[T]
	seq uint64
}

// Add puts something aside until at.
func (l *Late[T]) Add(at time.Duration, what T) {
	heap.Push(&l.of, late[T]{at: at, seq: l.seq, what: what})
	l.seq++
}

// Take takes out the first one if it is due.
func (l *Late[T]) Take(now time.Duration) (what T, ok bool) {
	if len(l.of) == 0 || l.of[0].at > now {
		return what, false
	}
	return heap.Pop(&l.of).(late[T]).what, true
}

// Sooner is the deadline d (0: none), or when the first one is due if that is before it.
func (l *Late[T]) Sooner(d time.Duration) time.Duration {
	if len(l.of) > 0 && (d == 0 || l.of[0].at < d) {
		return max(1, l.of[0].at)
	}
	return d
}

type late[T any] struct {
	at   time.Duration
	seq  uint64
	what T
}

type lates[T any] []late[T]

func (l lates[T]) Len() int { return len(l) }
func (l lates[T]) Less(i, j int) bool {
	return l[i].at < l[j].at || l[i].at == l[j].at && l[i].seq < l[j].seq
}
func (l lates[T]) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *lates[T]) Push(x any)   { *l = append(*l, x.(late[T])) }
func (l *lates[T]) Pop() any {
	old := *l
	x := old[len(old)-1]
	old[len(old)-1] = late[T]{} // what is gone is not held
	*l = old[:len(old)-1]
	return x
}

// Kept is a datagram of its own, which can be sent when its time has come.
type Kept struct {
	route Route
	data  []byte
}

// Keep copies what is to be sent later.
func Keep(o Out) *Kept { return &Kept{route: *o.Route, data: append([]byte(nil), o.Data...)} }

// Out is what there is to send.
func (k *Kept) Out() Out { return Out{Route: &k.route, Data: k.data} }

// Spoil changes a bit, but not in the byte that the ICRC leaves out. What is too short for that stays as it is.
func Spoil(b []byte, luck func() uint64) {
	if len(b) > 8 {
		bit := 8*5 + luck()%uint64(8*(len(b)-5))
		b[bit/8] ^= 1 << (bit % 8)
	}
}
