package perf

import (
	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Gets read places of the server's memory. Without verify there is one place, and one buffer here, as in ucx_perftest:
// nobody looks at what it holds. With verify, operation n reads place n modulo their number. There is at least one place
// more than operations under way: a buffer is never to hold what it held before, and no two that are
// under way are to bring the same.
const (
	maxSlots  = 2 * maxOutstanding
	slotBytes = 4 << 20 // of memory for more places than it needs
)

func getSlots(p *Params) int {
	return max(p.Outstanding+1, min(maxSlots, slotBytes/max(p.Size, 1)))
}

// offer fills the server's memory: pages that nobody has written to are one page, and too fast to read.
func (ses *session) offer() {
	for i := range ses.board.Slots {
		pattern.Fill(ses.board.Slot(i), pattern.Base(uint64(i), true))
	}
}

func (c *client) postGet(s *slot) braid.Request {
	if !c.p.Verify {
		return c.ep.PostGet(s.body, c.key, 0)
	}
	c.ledger.Rest(s.body) // cleared when it was looked at
	clear(s.body)
	return c.ep.PostGet(s.body, c.key, s.seq%c.slots*uint64(c.p.Size))
}

// late looks at the buffers of gets, and at signals, again, after the end.
func (c *client) late() {
	if c.lane.Mem != nil {
		c.lane.Rest(c.seq)
	}
	if c.ledger == nil || !c.test.Get || c.win == nil {
		return
	}
	for i := range c.win.slots {
		if s := &c.win.slots[i]; s.pieces != nil {
			c.ledger.Rest(s.pieces.Whole())
		} else {
			c.ledger.Rest(s.body)
		}
	}
}
