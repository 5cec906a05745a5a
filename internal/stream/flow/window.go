package flow

import "fmt"

// Send is one direction at its sender. Counts are bytes from the stream's beginning on.
type Send struct{ granted, sent uint64 }

// Room is how much may be sent.
func (s *Send) Room() int { return int(min(s.granted-s.sent, 1<<30)) }

// Take notes that n bytes are being sent, at most Room.
func (s *Send) Take(n int) {
	if s.sent += uint64(n); s.sent > s.granted {
		panic(fmt.Sprintf("flow: %d bytes sent, %d granted", s.sent, s.granted))
	}
}

// Back notes that the last n bytes of them were not sent after all.
func (s *Send) Back(n int) { s.sent -= uint64(n) }

// Sent is how many bytes were.
func (s *Send) Sent() uint64 { return s.sent }

// Grant notes how much the peer takes, all in all. A grant that takes something back is an error.
func (s *Send) Grant(total uint64) error {
	if total < s.granted {
		return fmt.Errorf("a window of %d bytes after one of %d", total, s.granted)
	}
	s.granted = total
	return nil
}

// Budget is what the windows of an endpoint may be larger than First, all in all.
type Budget struct{ Left int }

// Sizes are what a receiver offers for a stream.
type Sizes struct {
	First int // bytes of a window at first
	Most  int // and at most
}

// Receive is the other end of a direction.
type Receive struct {
	sizes    Sizes
	budget   *Budget
	size     int
	granted  uint64
	arrived  uint64
	consumed uint64
	full     bool // the sender has used the window up, since it last grew
	starves  bool // and the reader has had nothing to read since
	over     bool // nothing more comes
}

// NewReceive is a direction in which nothing has come. It grants its first window.
func NewReceive(s Sizes, b *Budget) Receive {
	return Receive{sizes: s, budget: b, size: s.First, granted: uint64(s.First)}
}

// Granted is what the peer may have sent.
func (r *Receive) Granted() uint64 { return r.granted }

// Held is how many bytes have arrived and are not consumed.
func (r *Receive) Held() int { return int(r.arrived - r.consumed) }

// Arrived notes that n bytes came. The error says that the peer does not keep to its window.
func (r *Receive) Arrived(n int) error {
	if uint64(n) > r.granted-r.arrived {
		return fmt.Errorf("%d bytes where %d were granted", r.arrived+uint64(n), r.granted)
	}
	r.arrived += uint64(n)
	r.full = r.full || r.arrived == r.granted
	return nil
}

// Consumed notes that the user has taken n bytes. tell: the peer is to hear of what is granted now.
func (r *Receive) Consumed(n int) (tell bool) {
	r.consumed += uint64(n)
	if r.over || r.granted-r.consumed > uint64(r.size/2) {
		return false
	}
	if r.starves {
		r.full, r.starves = false, false
		r.grow()
	}
	r.granted = r.consumed + uint64(r.size)
	return true
}

// Waits notes that the user waits, and nothing is there. If the sender had used its window up before, that is why.
func (r *Receive) Waits() { r.starves = r.starves || r.full && r.arrived == r.consumed }

// grow doubles the window, if that can be.
func (r *Receive) grow() {
	more := max(0, min(r.size, r.sizes.Most-r.size, r.budget.Left))
	r.budget.Left -= more
	r.size += more
}

// End gives back what the window took of the budget. Nothing is granted any more. Idempotent.
func (r *Receive) End() {
	r.budget.Left += r.size - r.sizes.First
	r.size, r.over = r.sizes.First, true
}
