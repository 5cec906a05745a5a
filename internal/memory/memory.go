package memory

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Region is memory that was registered.
type Region struct {
	Bytes  []byte
	index  uint32
	secret [8]wire.Secret // by rights
	dead   atomic.Bool
	users  atomic.Int32
	export transport.Export // nil: nobody may borrow it
	// Watch is told of each write before it happens: for checkers. Set it before any key is given out.
	Watch func(offset uint64, src []byte)
}

// Table is the regions of one node, and what one of its workers has lent (Lent).
type Table struct {
	*regions
	loans loans
}

// regions are those of a node.
type regions struct {
	rand   func() uint64
	mu     sync.Mutex             // of who adds and removes
	unlent atomic.Bool            // it was said that memory can't be lent
	rows   atomic.Pointer[[]*row] // copied when one is added, which is never taken away
	used   uint32                 // numbers that were given out, ever
	free   []uint32               // of them, those that are free again
}

// row is regions by their numbers: nil where there is none.
type row [rowSize]atomic.Pointer[Region]

const rowSize = 64

// NewTable makes an empty table; rand gives the secrets.
func NewTable(rand func() uint64) *Table {
	t := &regions{rand: rand}
	t.rows.Store(new([]*row))
	return &Table{regions: t}
}

// OfWorker is the same regions, for one more worker.
func (t *Table) OfWorker() *Table { return &Table{regions: t.regions} }

// slot is where the region of a number stands, nil if there never was one. From any goroutine.
func (t *regions) slot(index uint32) *atomic.Pointer[Region] {
	rows := *t.rows.Load()
	if at := int(index / rowSize); at < len(rows) {
		return &rows[at][index%rowSize]
	}
	return nil
}

// find is the node's region of a number, nil if there is none.
func (t *regions) find(index uint32) *Region {
	if s := t.slot(index); s != nil {
		return s.Load()
	}
	return nil
}

// Add registers b.
func (t *regions) Add(b []byte) *Region {
	r := &Region{Bytes: b}
	t.add(r)
	return r
}

func (t *regions) add(r *Region) {
	for i := range r.secret {
		r.secret[i] = wire.Secret(t.rand())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		r.index, t.free = t.free[n-1], t.free[:n-1]
	} else {
		r.index = t.used
		t.used++
	}
	if t.slot(r.index) == nil {
		rows := append(slices.Clone(*t.rows.Load()), new(row))
		t.rows.Store(&rows)
	}
	t.slot(r.index).Store(r)
}

// Remove ends remote access to r. Idempotent.
func (t *Table) Remove(r *Region) {
	if r.dead.Swap(true) {
		return
	}
	if r.index >= lent {
		t.loans.remove(r)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slot(r.index).Store(nil)
	t.free = append(t.free, r.index)
	if r.export != nil {
		r.export.Revoke()
	}
}

// Busy says whether access that was granted before Remove still goes on.
func (r *Region) Busy() bool {
	lent := r.export != nil && r.dead.Load() && !r.export.Revoke()
	return lent || r.users.Load() != 0
}

// Dead says whether the region was removed.
func (r *Region) Dead() bool { return r.dead.Load() }

// Enter counts an access that goes on after the call that asked for it; Leave ends it. Enter
// fails if the region was removed meanwhile.
func (r *Region) Enter() bool {
	r.users.Add(1)
	if r.dead.Load() {
		r.users.Add(-1)
		return false
	}
	return true
}

// Leave ends what Enter began.
func (r *Region) Leave() { r.users.Add(-1) }

// Key is the packed right of access, for a peer.
func (r *Region) Key(rights wire.Rights, incarnation uint64) wire.RKey {
	rights &= 7
	return wire.RKey{Rights: rights, Index: r.index, Secret: r.secret[rights], Size: uint64(len(r.Bytes)), Incarnation: incarnation}
}

// Target finds the bytes that an operation with the given key secret may touch. The code
// is 0 or says what is wrong.
func (t *Table) Target(index uint32, secret wire.Secret, need wire.Rights, offset, size uint64) (*Region, []byte, wire.RefusedCode) {
	r := t.find(index)
	if index >= lent {
		r = t.loans.find(index)
	}
	if r == nil {
		return nil, nil, wire.RefusedKey
	}
	has, ok := r.rights(secret)
	switch {
	case !ok || r.dead.Load():
		return nil, nil, wire.RefusedKey
	case has&need != need:
		return nil, nil, wire.RefusedRights
	case size > uint64(len(r.Bytes)) || offset > uint64(len(r.Bytes))-size:
		return nil, nil, wire.RefusedBounds
	}
	return r, r.Bytes[offset : offset+size : offset+size], 0
}

func (r *Region) rights(secret wire.Secret) (wire.Rights, bool) {
	for i, s := range r.secret {
		if s == secret {
			return wire.Rights(i), true
		}
	}
	return 0, false
}
