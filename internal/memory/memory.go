package memory

import (
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

// Table is the regions of one node.
type Table struct {
	rand    func() uint64
	mu      sync.Mutex
	unlent  atomic.Bool               // it was said that memory can't be lent
	regions atomic.Pointer[[]*Region] // copied on change; a slot is nil when free
}

// NewTable makes an empty table; rand gives the secrets.
func NewTable(rand func() uint64) *Table {
	t := &Table{rand: rand}
	t.regions.Store(new([]*Region))
	return t
}

// Add registers b.
func (t *Table) Add(b []byte) *Region {
	r := &Region{Bytes: b}
	t.add(r)
	return r
}

func (t *Table) add(r *Region) {
	for i := range r.secret {
		r.secret[i] = wire.Secret(t.rand())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.regions.Load()
	regions := append(make([]*Region, 0, len(old)+1), old...)
	for i, o := range regions {
		if o == nil {
			r.index = uint32(i)
			regions[i] = r
			t.regions.Store(&regions)
			return
		}
	}
	r.index = uint32(len(regions))
	regions = append(regions, r)
	t.regions.Store(&regions)
}

// Remove ends remote access to r. Idempotent.
func (t *Table) Remove(r *Region) {
	if r.dead.Swap(true) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	regions := append([]*Region(nil), *t.regions.Load()...)
	regions[r.index] = nil
	t.regions.Store(&regions)
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
	regions := *t.regions.Load()
	if uint64(index) >= uint64(len(regions)) || regions[index] == nil {
		return nil, nil, wire.RefusedKey
	}
	r := regions[index]
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
