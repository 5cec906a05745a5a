package sim

import "time"

// eventKind is what Step does when an event's time has come.
type eventKind uint8

const (
	wake   eventKind = iota // nothing: time stands here, so that ep's Progress can see something
	pump                    // ep's device takes more of what was flushed
	knock                   // ep's dial reaches the other host
	expire                  // ep's dial has waited long enough
	call                    // fn
)

// event is one point in time at which something happens by itself.
type event struct {
	at   time.Duration
	seq  uint64 // breaks ties: first scheduled, first run
	kind eventKind
	ep   *endpoint
	fn   func()
}

// stale says that nobody is left who would notice: it doesn't move time.
func (e *event) stale() bool {
	return e.ep != nil && (e.ep.life == closed || e.kind == expire && e.ep.life != dialing)
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// heap is the events to come, the earliest first.
type heap []event

func (h *heap) push(e event) {
	*h = append(*h, e)
	a, i := *h, len(*h)-1
	for i > 0 {
		up := (i - 1) / 2
		if !a[i].before(&a[up]) {
			break
		}
		a[i], a[up] = a[up], a[i]
		i = up
	}
}

func (h *heap) pop() event {
	a := *h
	top := a[0]
	n := len(a) - 1
	a[0] = a[n]
	a[n] = event{}
	a = a[:n]
	*h = a
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < n; c++ {
			if a[c].before(&a[least]) {
				least = c
			}
		}
		if least == i {
			return top
		}
		a[i], a[least] = a[least], a[i]
		i = least
	}
}
