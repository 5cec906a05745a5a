package health

import "time"

// Backoff spaces attempts: from Min it doubles up to Max.
type Backoff struct {
	Min, Max time.Duration

	wait time.Duration // the last one, without luck; 0: none since Reset
}

// DefaultBackoff is for dialling a peer again.
func DefaultBackoff() Backoff { return Backoff{Min: 20 * time.Millisecond, Max: 5 * time.Second} }

// Next is how long to wait before the next attempt: a time between half of the present step and all
// of it, as luck (any 64 random bits) will have it, so that many don't come back at once.
func (b *Backoff) Next(luck uint64) time.Duration {
	switch {
	case b.wait == 0:
		b.wait = b.Min
	case b.wait < b.Max/2:
		b.wait *= 2
	default:
		b.wait = b.Max
	}
	half := b.wait / 2
	return b.wait - time.Duration(luck%uint64(half+1))
}

// Reset is for when an attempt has succeeded.
func (b *Backoff) Reset() { b.wait = 0 }
