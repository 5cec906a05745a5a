package order

// Line is what is to be executed in the order of its posting: all of it that is under way is on one lane, by whatever names that (R10). The zero
// value is empty, and on none.
type Line[T comparable] struct {
	at, next T
	under    int
}

// At is the lane that it is on, the zero value if none. Moving: what comes now goes to another one, once nothing is under way.
func (l *Line[T]) At() T { return l.at }
func (l *Line[T]) Moving() bool {
	var none T
	return l.next != none
}

// Under is how much is under way.
func (l *Line[T]) Under() int { return l.under }

// Enter notes that something is posted on At, Leave that it is executed or was handed back. Leave says whether who waits to move may go.
func (l *Line[T]) Enter() { l.under++ }
func (l *Line[T]) Leave() bool {
	l.under--
	return l.under == 0 && l.Moving()
}

// Move has what comes now go to another lane, and says whether it is another one.
func (l *Line[T]) Move(to T) bool {
	var none T
	if l.next = none; to != l.at {
		l.next = to
	}
	return l.Moving()
}

// Settle ends a move, or the stay on a lane that is not there any more, and says whether it may: nothing is under way.
func (l *Line[T]) Settle() bool {
	if l.under > 0 {
		return false
	}
	var none T
	l.at, l.next = l.next, none
	return true
}

// Join puts it on a lane without a wait, and says whether it may be there: it is already, or nothing is under way.
func (l *Line[T]) Join(to T) bool {
	if l.at != to && l.under > 0 {
		return false
	}
	if l.at = to; l.next == to {
		var none T
		l.next = none
	}
	return true
}

// Forget leaves the lane, with what is under way: nothing more comes.
func (l *Line[T]) Forget() {
	var none T
	l.at, l.next = none, none
}
