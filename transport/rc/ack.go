package rc

import "time"

const (
	ackDelay  = time.Millisecond // the longest that an acknowledgement waits for a segment to ride on
	ackFrames = 256
	ackBytes  = 64 << 10
)

// acks is what the peer is owed.
type acks struct {
	out      uint64 // last acknowledgement that is on its way
	outBytes uint64
	now      bool // don't wait

	at         time.Duration // when it must go out; while listed
	listed     bool
	prev, next *endpoint
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool {
	return ep.in.accepted != ep.acks.out && ep.state == up && ep.writes()
}

// ackDue says whether the acknowledgement is worth a segment of its own now.
func (ep *endpoint) ackDue() bool {
	return ep.in.accepted != ep.acks.out && (ep.acks.now ||
		ep.in.accepted-ep.acks.out >= ackFrames || ep.in.acceptedBytes-ep.acks.outBytes >= ackBytes)
}

// acknowledged: an acknowledgement of everything accepted so far is on its way.
func (ep *endpoint) acknowledged() {
	ep.acks.out, ep.acks.outBytes, ep.acks.now = ep.in.accepted, ep.in.acceptedBytes, false
	ep.f.owing.remove(ep)
}

// owing lists the endpoints that owe an acknowledgement, the one that must send it first in front: the delay is the
// same for all, so new ones go to the end.
type owing struct{ first, last *endpoint }

func (o *owing) add(ep *endpoint, at time.Duration) {
	a := &ep.acks
	a.at, a.listed, a.prev, a.next = at, true, o.last, nil
	if o.last != nil {
		o.last.acks.next = ep
	} else {
		o.first = ep
	}
	o.last = ep
}

func (o *owing) remove(ep *endpoint) {
	a := &ep.acks
	if !a.listed {
		return
	}
	if a.prev != nil {
		a.prev.acks.next = a.next
	} else {
		o.first = a.next
	}
	if a.next != nil {
		a.next.acks.prev = a.prev
	} else {
		o.last = a.prev
	}
	a.listed, a.prev, a.next = false, nil, nil
}

// overdue has those send that have waited long enough.
func (f *iface) overdue(now time.Duration) {
	for ep := f.owing.first; ep != nil && ep.acks.at <= now; ep = f.owing.first {
		f.owing.remove(ep)
		ep.acks.now = true
		ep.soil()
	}
}
