package perf

import "github.com/openbraid/braid"

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
	for i := range ses.put.slots {
		fill(ses.slot(i), base(uint64(i), true))
	}
}

func (c *client) postGet(s *slot) braid.Request {
	if !c.p.Verify {
		return c.ep.PostGet(s.body, c.key, 0)
	}
	c.ledger.rest(s.body) // cleared when it was looked at
	clear(s.body)
	return c.ep.PostGet(s.body, c.key, s.seq%c.slots*uint64(c.p.Size))
}

// late looks at the buffers of gets again, after the end.
func (c *client) late() {
	if c.ledger == nil || !c.test.get || c.win == nil {
		return
	}
	for i := range c.win.slots {
		c.ledger.rest(c.win.slots[i].body)
	}
}

// answer looks at what get number seq brought, and clears it.
func (l *ledger) answer(got []byte, seq, slots uint64) {
	defer clear(got)
	switch from, ok := sourceOf(got, seq, slots); {
	case ok:
		l.note(from) // its own, or that of an earlier one once more
	case blank(got):
		// Done, and nothing came: final counts it.
	default:
		l.note(seq)
		l.Corrupt++
	}
}

// sourceOf is the last get up to seq that was to bring what came.
func sourceOf(got []byte, seq, slots uint64) (uint64, bool) {
	for back := range min(slots, seq+1) {
		if filled(got, base((seq-back)%slots, true)) {
			return seq - back, true
		}
	}
	return 0, false
}
