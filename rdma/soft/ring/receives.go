package ring

import "github.com/openbraid/braid/rdma"

// Receives is a receive queue: posted memory, first in first out.
type Receives struct {
	wrs   []receive
	sges  []rdma.SGE // per to each
	per   int
	head  int
	Count int
}

type receive struct {
	id uint64
	n  int
}

// Open makes room for n receives of up to per pieces.
func (r *Receives) Open(n, per int) {
	r.wrs, r.sges, r.per = make([]receive, n), make([]rdma.SGE, n*per), per
}

// Push adds one, or says why not.
func (r *Receives) Push(w *rdma.RecvWR) rdma.Status {
	if len(w.SGL) > r.per {
		return rdma.BadWR
	}
	if r.Count == len(r.wrs) {
		return rdma.Full
	}
	at := (r.head + r.Count) % len(r.wrs)
	r.wrs[at] = receive{id: w.ID, n: copy(r.sges[at*r.per:], w.SGL)}
	r.Count++
	return rdma.Posted
}

// First is the one that is used next; there is one.
func (r *Receives) First() (id uint64, sges []rdma.SGE) {
	w := r.wrs[r.head]
	return w.id, r.sges[r.head*r.per:][:w.n]
}

// Pop ends the first.
func (r *Receives) Pop() {
	if r.head++; r.head == len(r.wrs) {
		r.head = 0
	}
	r.Count--
}
