package memory

import "github.com/openbraid/braid/internal/wire"

// lent is the first number of what a worker has lent. Those of a node's regions are below.
const lent = 1 << 31

// loans are what one worker lends to its peers, each until somebody has read it. Nobody but the worker looks here, in its turns: so a region is used again as soon as nobody
// reads it, which the node's can't be, where another worker may just be looking at it.
type loans struct {
	all   []*Region // by their numbers
	free  []uint32  // of them, those whose region is still being read, and another one has the number next
	spare []*Region
}

// Lent is Add for what the worker's own peers read until Return. Within the worker.
func (t *Table) Lent(b []byte) *Region {
	l := &t.loans
	r := l.unused()
	r.Bytes = b
	r.secret[wire.Read] = wire.Secret(t.rand()) // no other right is given; a secret of 0 is that of none
	l.all[r.index-lent] = r
	return r
}

func (l *loans) unused() (r *Region) {
	if n := len(l.spare); n > 0 {
		r, l.spare = l.spare[n-1], l.spare[:n-1]
		r.dead.Store(false)
		return r
	}
	if n := len(l.free); n > 0 {
		r, l.free = &Region{index: l.free[n-1]}, l.free[:n-1]
		return r
	}
	l.all = append(l.all, nil)
	return &Region{index: lent + uint32(len(l.all)-1)}
}

// Return ends what Lent began. Only who has let go of all that it knows of r calls it, once: r is another one's then, unless it is still being read.
func (t *Table) Return(r *Region) {
	t.Remove(r)
	switch {
	case r.index < lent:
	case r.Busy():
		t.loans.free = append(t.loans.free, r.index)
	default:
		r.Bytes, r.secret = nil, [8]wire.Secret{}
		t.loans.spare = append(t.loans.spare, r)
	}
}

func (l *loans) find(index uint32) *Region {
	if at := int(index - lent); at < len(l.all) {
		return l.all[at]
	}
	return nil
}

func (l *loans) remove(r *Region) { l.all[r.index-lent] = nil }
