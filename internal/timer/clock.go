package timer

import "time"

// Clock is what turns read the time from. What reading costs is a third of a turn that finds nothing in shared memory; so who polls densely reads it
// each fourth turn only, and never is more than dense gone by then, unless he stops polling: which is as if he had been stopped.
type Clock struct {
	Now    func() time.Duration
	polled bool
	skip   int // turns that do without
}

const (
	dense = 2 * time.Microsecond
	ticks = 4
)

// Poll says whether somebody makes one turn after the other, and waits for nothing. At first nobody does.
func (c *Clock) Poll(on bool) { c.polled, c.skip = on, 0 }

// Tick is the time of a turn; last is that of the one before.
func (c *Clock) Tick(last time.Duration) time.Duration {
	if c.skip > 0 {
		c.skip--
		return last
	}
	now := c.Now()
	if c.polled && now-last < dense {
		c.skip = ticks - 1
	}
	return now
}
