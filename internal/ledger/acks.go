package ledger

import "time"

const (
	// AckDelay is the longest that an acknowledgement waits for something to ride on.
	AckDelay = time.Millisecond
	// AckFrames is how many frames one covers at most.
	AckFrames = 256
)

// Acks is what one endpoint owes its peer: acknowledgements of the frames that its sink has taken. The zero value owes nothing.
type Acks[E any] struct {
	// Now: it does not wait.
	Now bool

	said, saidBytes uint64 // what the last one covers that is on its way
	debt            Debt[E]
}

// Owes says whether frames were accepted that no acknowledgement covers yet.
func (a *Acks[E]) Owes(accepted uint64) bool { return accepted != a.said }

// Owed is how many of the accepted bytes that are.
func (a *Acks[E]) Owed(bytes uint64) uint64 { return bytes - a.saidBytes }

// Hurry has what is owed go out at once, and says whether there is any.
func (a *Acks[E]) Hurry(accepted uint64) bool {
	owes := a.Owes(accepted)
	a.Now = a.Now || owes
	return owes
}

// Due says whether it is worth something of its own now, given what was accepted and how many bytes may be owed.
func (a *Acks[E]) Due(accepted, bytes, most uint64) bool {
	return a.Owes(accepted) && (a.Now || accepted-a.said >= AckFrames || a.Owed(bytes) >= most)
}

// Said: an acknowledgement of all that was accepted is on its way.
func (a *Acks[E]) Said(accepted, bytes uint64, list *Owing[E]) {
	a.said, a.saidBytes, a.Now = accepted, bytes, false
	list.Remove(&a.debt)
}

// Wait puts the owner in the list of those who owe, until at, if he isn't.
func (a *Acks[E]) Wait(list *Owing[E], owner E, at time.Duration) {
	if !a.debt.Listed() && !a.Now {
		list.Add(&a.debt, owner, at)
	}
}

// Forgive forgets what is owed: nothing is said any more.
func (a *Acks[E]) Forgive(list *Owing[E]) {
	a.Now = false
	list.Remove(&a.debt)
}
