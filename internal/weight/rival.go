package weight

import "time"

const (
	// hold is how long another lane must be better for what is on one to move there,
	hold = 250 * time.Millisecond
	// rest how long ago the last move.
	rest = time.Second
)

// Rival is a lane, by whatever names it, that is better than the one that is used. The zero value is none.
type Rival[T comparable] struct {
	lane  T
	since time.Duration // is better since then
	moved time.Duration // when the last move was decided, 0: never
}

// Decide takes which lane is better now, the zero value if none is, and says whether to move there.
func (r *Rival[T]) Decide(now time.Duration, better T) bool {
	var none T
	if better == none {
		r.lane = none
		return false
	}
	if r.lane != better {
		r.lane, r.since = better, now
	}
	if now-r.since < hold || r.moved != 0 && now-r.moved < rest {
		return false
	}
	r.moved = now
	return true
}
