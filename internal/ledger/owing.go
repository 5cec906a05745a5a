package ledger

import "time"

// Debt is a place among Owing: that an endpoint owes its peer an acknowledgement. The zero value stands nowhere.
type Debt[E any] struct {
	owner      E
	at         time.Duration // when it must go out
	listed     bool
	prev, next *Debt[E]
}

// Listed says whether it stands among Owing.
func (d *Debt[E]) Listed() bool { return d.listed }

// Owing lists the endpoints of an interface that owe an acknowledgement, the one that must send it first in front: the delay is the
// same for all, so new ones go to the end. The zero value is empty.
type Owing[E any] struct{ first, last *Debt[E] }

// Add puts d, which stands nowhere, at the end; at is not before that of the last one.
func (o *Owing[E]) Add(d *Debt[E], owner E, at time.Duration) {
	*d = Debt[E]{owner: owner, at: at, listed: true, prev: o.last}
	if o.last != nil {
		o.last.next = d
	} else {
		o.first = d
	}
	o.last = d
}

// Remove takes d out, if it is in.
func (o *Owing[E]) Remove(d *Debt[E]) {
	if !d.listed {
		return
	}
	if d.prev != nil {
		d.prev.next = d.next
	} else {
		o.first = d.next
	}
	if d.next != nil {
		d.next.prev = d.prev
	} else {
		o.last = d.prev
	}
	*d = Debt[E]{}
}

// Next is when the first one must go out; false: there is none.
func (o *Owing[E]) Next() (at time.Duration, ok bool) {
	if o.first == nil {
		return 0, false
	}
	return o.first.at, true
}

// Overdue takes out the first one if it has waited long enough.
func (o *Owing[E]) Overdue(now time.Duration) (owner E, ok bool) {
	if d := o.first; d != nil && d.at <= now {
		owner = d.owner
		o.Remove(d)
		return owner, true
	}
	return owner, false
}
