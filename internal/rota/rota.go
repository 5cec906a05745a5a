package rota

import (
	"time"

	"github.com/openbraid/braid/transport"
)

const (
	// Quiet is how long an interface must have brought nothing to be asked rarely.
	Quiet = time.Millisecond
	// Rare is how often that is: twenty times as long as the system takes to answer.
	Rare = 20 * time.Microsecond
)

// Rota is the interfaces of one worker. The zero value has none; at first somebody waits for the descriptors.
type Rota struct {
	all    []entry
	last   time.Duration // when one of them brought something
	polled bool
}

// entry is one interface.
type entry struct {
	transport.Iface
	asks    bool          // the system, at each turn
	brought time.Duration // something, the last time
	asked   time.Duration
}

// Add takes one in.
func (r *Rota) Add(i transport.Iface) { r.all = append(r.all, entry{Iface: i, asks: i.Attr().Asks}) }

// Progress asks those that are due, and returns how much they did.
func (r *Rota) Progress(now time.Duration) (n int) {
	for i := range r.all {
		e := &r.all[i]
		if e.asks && r.rests(e, now) {
			continue
		}
		if k := e.Progress(); k > 0 {
			n += k
			e.brought, r.last = now, now
		}
	}
	return n
}

// rests says whether nothing is expected of an interface, and others are worth the time. Else it is asked now.
func (r *Rota) rests(e *entry, now time.Duration) bool {
	if r.polled && now-e.brought >= Quiet && now-r.last < Quiet && now-e.asked < Rare {
		return true
	}
	e.asked = now
	return false
}

// Flush hands to the system what was posted.
func (r *Rota) Flush() {
	for i := range r.all {
		r.all[i].Flush()
	}
}

// Deadline is the soonest of all; 0: there is none.
func (r *Rota) Deadline() (at time.Duration) {
	for i := range r.all {
		if t := r.all[i].Deadline(); t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	return at
}

// Watch says whether anybody waits for the descriptors.
func (r *Rota) Watch(on bool) {
	r.polled = !on
	for i := range r.all {
		r.all[i].Watch(on)
	}
}
