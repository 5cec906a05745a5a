package pace

import (
	"time"

	"github.com/openbraid/braid/rdma"
)

// RTT is how long answers take: mean and deviation of round trips that were measured, one at a time.
//
// Source: RFC 6298, without its floor of a second.
type RTT struct {
	mean, dev time.Duration
	psn       uint32 // what must be answered
	at        time.Duration
	measuring bool
}

// The first probe is not sent sooner than shortest, and after unknown where nothing was measured yet.
const (
	shortest = time.Millisecond
	unknown  = 5 * time.Millisecond
)

// Sent: everything before psn was sent, and an answer asked for.
func (r *RTT) Sent(psn uint32, now time.Duration) {
	if !r.measuring {
		r.measuring, r.psn, r.at = true, psn, now
	}
}

// Answered: everything before una was.
func (r *RTT) Answered(una uint32, now time.Duration) {
	if !r.measuring || rdma.PSNDiff(una, r.psn) < 0 {
		return
	}
	r.measuring = false
	took := now - r.at
	if r.mean == 0 {
		r.mean, r.dev = took, took/2
		return
	}
	r.dev += ((took - r.mean).Abs() - r.dev) / 4
	r.mean += (took - r.mean) / 8
}

// Repeated: something was sent again, so that nobody can tell to which an answer belongs.
func (r *RTT) Repeated() { r.measuring = false }

// Probe is how long after the last progress the n-th probe is due, from 0 on: a few round trips, then twice as long, and so on. No probe
// is due at or after the time-out.
func (r *RTT) Probe(n int, timeout time.Duration) time.Duration {
	first := unknown
	if r.mean != 0 {
		first = max(r.mean+4*r.dev, shortest)
	}
	first = min(first, timeout/4)
	if n > 20 {
		return timeout
	}
	return min(timeout, first*(2<<n-1))
}
