package ring

// Results are those of the last atomics that were executed, which the peer may ask for again.
type Results struct {
	ring []result
	next int
}

type result struct {
	psn   uint32
	orig  uint64
	valid bool
}

// Keep adds one; it takes the place of the oldest.
func (r *Results) Keep(psn uint32, orig uint64) {
	r.ring[r.next] = result{psn: psn, orig: orig, valid: true}
	r.next = (r.next + 1) % len(r.ring)
}

// Find is the latest result of a packet number, if it is kept: numbers come again.
func (r *Results) Find(psn uint32) (orig uint64, ok bool) {
	n := len(r.ring)
	for i := range n {
		if x := &r.ring[(r.next+n-1-i)%n]; x.valid && x.psn == psn {
			return x.orig, true
		}
	}
	return 0, false
}

// Grow makes room for so many, at least one, and keeps what there is.
func (r *Results) Grow(n int) {
	if n = max(1, n); n <= len(r.ring) {
		return
	}
	old := r.ring
	r.ring = make([]result, n)
	k := copy(r.ring, old[r.next:])
	copy(r.ring[k:], old[:r.next])
	r.next = len(old)
}
