package queue

// Credits are the free places of a completion queue.
//
// Invariant: Free + what is under way + Kept = Depth. Kept places belong to queue pairs that are destroyed: completions that were
// made before may still stand in the queue. When the queue was seen empty, they are free.
type Credits struct {
	Depth, Free, Kept int
}

// NewCredits are those of an empty queue.
func NewCredits(depth int) Credits { return Credits{Depth: depth, Free: depth} }

// Take takes n places, or none.
func (c *Credits) Take(n int) bool {
	if c.Free < n {
		return false
	}
	c.Free -= n
	return true
}

// Give gives n places back.
func (c *Credits) Give(n int) { c.Free += n }

// Keep sets n places aside that a destroyed queue pair had.
func (c *Credits) Keep(n int) { c.Kept += n }

// Empty: the queue was seen empty.
func (c *Credits) Empty() {
	c.Free += c.Kept
	c.Kept = 0
}

// Low says whether every work request had better give its place back soon.
func (c *Credits) Low() bool { return c.Free < c.Depth/8 }
