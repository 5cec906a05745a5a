package pace

import "github.com/openbraid/braid/rdma"

// MaxReads is how many READs and atomics may be under way.
const MaxReads = 128

// Credit is how many messages the responder has receives for.
type Credit struct {
	limit   uint32 // may be sent up to this number
	limited bool   // the responder counts
	Sent    uint32 // number of the last message that was begun
}

// Allows says whether a message that needs a receive may be begun. With nothing under way one may, credit or not:
// the responder then says when to try again.
func (c *Credit) Allows(idle bool) bool {
	return !c.limited || idle || rdma.PSNDiff(c.limit, rdma.PSNAdd(c.Sent, 1)) >= 0
}

// Granted takes what an acknowledgement says. Credits are never taken back.
func (c *Credit) Granted(msn uint32, n int) {
	if n < 0 {
		c.limited = false
		return
	}
	limit := rdma.PSNAdd(msn, n)
	if !c.limited || rdma.PSNDiff(limit, c.limit) > 0 {
		c.limit = limit
	}
	c.limited = true
}

// Flow is how many packets may be under way: it grows with what is acknowledged and shrinks with losses.
type Flow struct {
	Window           int
	slow, part, most int
}

// NewFlow begins in the middle.
func NewFlow(most int) Flow { return Flow{Window: min(32, most), slow: most, most: most} }

// Acked is progress of n packets.
func (f *Flow) Acked(n int) {
	if f.Window < f.slow {
		f.Window = min(f.Window+n, f.most)
		return
	}
	for f.part += n; f.part >= f.Window && f.Window < f.most; f.Window++ {
		f.part -= f.Window
	}
	f.part = min(f.part, f.most)
}

// Lost halves it; after a time-out it begins small again.
func (f *Flow) Lost(timeout bool) {
	f.slow = max(f.Window/2, 2)
	f.Window, f.part = f.slow, 0
	if timeout {
		f.Window = max(f.Window/4, 2)
	}
}

// Segments are the READs and atomics that are under way, each by its last packet number.
type Segments struct {
	last  [MaxReads]uint32
	head  int
	Count int
}

// Push adds one.
func (s *Segments) Push(last uint32) {
	s.last[(s.head+s.Count)%MaxReads] = last
	s.Count++
}

// Done forgets those that are answered.
func (s *Segments) Done(una uint32) {
	for s.Count > 0 && rdma.PSNDiff(una, s.last[s.head]) > 0 {
		s.head = (s.head + 1) % MaxReads
		s.Count--
	}
}

// Probe is one packet at a time until there is progress: whatever comes behind it would be dropped.
func (f *Flow) Probe() { f.slow, f.Window = max(f.slow/2, 2, f.Window), 1 }
