//go:build linux

package shm

import "time"

const (
	ackDelay  = time.Millisecond // the longest that an acknowledgement waits for a frame to ride on
	ackFrames = 256
	ackBytes  = 1 << 20 // or what fills a quarter of a window
)

// acks is what the peer is owed.
type acks struct {
	out      uint64 // last acknowledgement that is in the ring
	outBytes uint64
	now      bool // don't wait

	listed bool          // in iface.owing
	until  time.Duration // it must go out then; 0: nobody has looked at the clock
}

// said: a slot has carried an acknowledgement.
func (a *acks) said(ack uint32, accepted, bytes uint64) {
	if ack == uint32(accepted) {
		a.out, a.outBytes, a.now = accepted, bytes, false
	}
}

// owes says whether frames were accepted that no acknowledgement covers yet.
func (ep *endpoint) owes() bool {
	return ep.recv.accepted != ep.acks.out && ep.state == up && ep.writes()
}

// overdue says whether the acknowledgement is worth a slot of its own now.
func (ep *endpoint) overdue() bool {
	a, r := &ep.acks, &ep.recv
	return r.accepted != a.out && (a.now || r.accepted-a.out >= ackFrames || r.acceptedBytes-a.outBytes >= min(ackBytes, ep.window/4))
}
