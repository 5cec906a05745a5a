package ledger

import "time"

const (
	// AckDelay is the longest that an acknowledgement waits for something to ride on.
	AckDelay = time.Millisecond
	// AckFrames is how many frames one covers at most.
	AckFrames = 256
)

// Covered is how much of what an endpoint's sink has taken is covered by an acknowledgement that is on its way. The zero value owes nothing.
type Covered struct {
	// Now: the next one does not wait.
	Now bool

	frames, bytes uint64
}

// Owes says whether frames were accepted that no acknowledgement covers yet.
func (c *Covered) Owes(accepted uint64) bool { return accepted != c.frames }

// Owed is how many of the accepted bytes that are.
func (c *Covered) Owed(bytes uint64) uint64 { return bytes - c.bytes }

// Hurry has what is owed go out at once, and says whether there is any.
func (c *Covered) Hurry(accepted uint64) bool {
	owes := c.Owes(accepted)
	c.Now = c.Now || owes
	return owes
}

// Due says whether it is worth something of its own now, given what was accepted and how many bytes may be owed.
func (c *Covered) Due(accepted, bytes, most uint64) bool {
	return c.Owes(accepted) && (c.Now || accepted-c.frames >= AckFrames || c.Owed(bytes) >= most)
}

// Cover: an acknowledgement of all that was accepted is on its way.
func (c *Covered) Cover(accepted, bytes uint64) { *c = Covered{frames: accepted, bytes: bytes} }

// Acks is what one endpoint owes its peer, and until when. The zero value owes nothing.
type Acks[E any] struct {
	Covered
	debt Debt[E]
}

// Said is Cover, and nothing waits any more.
func (a *Acks[E]) Said(accepted, bytes uint64, list *Owing[E]) {
	a.Cover(accepted, bytes)
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
