package rc

// credits are the free places of a completion queue.
//
// Invariant: free + what is under way + kept = depth. Kept places belong to queue pairs that are destroyed: completions that were
// made before may still stand in the queue. When the queue was seen empty, they are free.
type credits struct {
	depth, free, kept int
	line              []*endpoint // who waits for a place, in order
}

func newCredits(depth int) credits { return credits{depth: depth, free: depth} }

// take takes n places, or none.
func (c *credits) take(n int) bool {
	if c.free < n {
		return false
	}
	c.free -= n
	return true
}

func (c *credits) give(n int) { c.free += n }

// keep sets n places aside that a destroyed queue pair had.
func (c *credits) keep(n int) { c.kept += n }

// empty: the queue was seen empty.
func (c *credits) empty() {
	c.free += c.kept
	c.kept = 0
}

// low says whether every work request had better give its place back soon.
func (c *credits) low() bool { return c.free < c.depth/8 }

// wait puts an endpoint in line.
func (c *credits) wait(ep *endpoint) {
	if !ep.inLine {
		ep.inLine = true
		c.line = append(c.line, ep)
	}
}

// next takes the first out of the line, if there is a place for it.
func (c *credits) next() *endpoint {
	if len(c.line) == 0 || c.free == 0 {
		return nil
	}
	ep := c.line[0]
	c.line[0] = nil
	c.line = c.line[1:]
	ep.inLine = false
	return ep
}
