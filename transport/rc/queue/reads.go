package queue

// Reads are the bytes that may be read from peers at a time.
//
// Invariant: Free + what is under way + Done = Limit. Done has been read; it is free again with Settle, when those who wait in line
// have their turn, so that who is told of a completion can't get ahead of them.
//
// Source: reads_available and reads_completed of uct_rc_iface (UCX_RC_TX_NUM_GET_BYTES).
type Reads struct {
	Limit, Free, Done int
}

// NewReads are those of nobody reading.
func NewReads(limit int) Reads { return Reads{Limit: limit, Free: limit} }

// Take takes n bytes, or none.
func (r *Reads) Take(n int) bool {
	if r.Free < n {
		return false
	}
	r.Free -= n
	return true
}

// Ended: n bytes were read, or are given up.
func (r *Reads) Ended(n int) { r.Done += n }

// Settle makes what has ended free, and says whether there was any.
func (r *Reads) Settle() bool {
	some := r.Done > 0
	r.Free += r.Done
	r.Done = 0
	return some
}
