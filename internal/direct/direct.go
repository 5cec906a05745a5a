package direct

import (
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

const (
	// piece is how much is copied at once: larger copies go past the caches, which pays from farPast on only.
	piece   = 512 << 10
	farPast = 8 << 20
)

// Reach is how memory of one peer is got at. The zero value reaches nothing.
type Reach struct {
	By     transport.Borrower // the lane over which memory is borrowed; nil: none can
	Done   *uint64            // counts operations, or parts of them
	index  uint32             // of the key looked up last,
	secret wire.Secret
	win    *transport.Window // and what it is for; nil: ask again
}

// enter gets at the memory that key names, which is to be left when it was used; a nil window: it must be a frame.
func (r *Reach) enter(key *wire.RKey, need wire.Rights) ([]byte, *transport.Window) {
	if r.win == nil || r.secret != key.Secret || r.index != key.Index {
		if r.By == nil {
			return nil, nil
		}
		if r.win = r.By.Borrow(memory.LoanKey(key.Index, key.Secret)); r.win == nil {
			return nil, nil
		}
		r.index, r.secret = key.Index, key.Secret
	}
	w := r.win
	if wire.Rights(w.Rights)&need == 0 {
		return nil, nil
	}
	mem := w.Enter()
	if mem == nil { // the peer has ended it
		r.win = nil
		return nil, nil
	}
	return mem[:min(key.Size, uint64(len(mem)))], w
}

// part is n bytes at an offset of mem, nil if they are not inside.
func part(mem []byte, offset, n uint64) []byte {
	if size := uint64(len(mem)); n > size || offset > size-n {
		return nil
	}
	return mem[offset : offset+n : offset+n]
}

// Put writes src, and says whether it did.
func (r *Reach) Put(src []byte, key *wire.RKey, offset uint64) bool {
	return r.Copy(src, key, offset, false)
}

// Get reads to dst, and says whether it did.
func (r *Reach) Get(dst []byte, key *wire.RKey, offset uint64) bool {
	return r.Copy(dst, key, offset, true)
}

// Copy is one of the two.
func (r *Reach) Copy(mine []byte, key *wire.RKey, offset uint64, get bool) bool {
	need := wire.Write
	if get {
		need = wire.Read
	}
	mem, w := r.enter(key, need)
	if w == nil {
		return false
	}
	theirs := part(mem, offset, uint64(len(mine)))
	switch {
	case theirs == nil:
	case get:
		load(mine, theirs)
	default:
		store(theirs, mine)
	}
	w.Leave()
	return r.done(theirs != nil)
}

// done counts what was done.
func (r *Reach) done(ok bool) bool {
	if ok {
		*r.Done++
	}
	return ok
}

// PutSignal writes src and then changes the 64-bit word that s names of signal's region, and says whether it did both.
func (r *Reach) PutSignal(src []byte, key *wire.RKey, offset uint64, signal *wire.RKey, s *wire.Signal) bool {
	mem, w := r.enter(key, wire.Write)
	if w == nil {
		return false
	}
	defer w.Leave()
	words := mem
	if signal.Index != key.Index || signal.Secret != key.Secret {
		m, v := r.enter(signal, wire.Write)
		if v == nil {
			return false
		}
		defer v.Leave()
		words = m
	}
	dst, word := part(mem, offset, uint64(len(src))), part(words, s.Offset, 8)
	if dst == nil || word == nil {
		return false
	}
	store(dst, src)
	change := wire.AtomicOp{Size: 8, Value: s.Value, Change: wire.ChangeSwap}
	if s.Add {
		change.Change = wire.ChangeAdd
	}
	memory.Apply(word, &change)
	return r.done(true)
}

// Atomic changes a word that is aligned, and says what it was.
func (r *Reach) Atomic(key *wire.RKey, h *wire.AtomicOp) (old uint64, ok bool) {
	mem, w := r.enter(key, wire.Atomic)
	if w == nil {
		return 0, false
	}
	word := part(mem, h.Offset, uint64(h.Size))
	if word != nil {
		old = memory.Apply(word, h)
	}
	w.Leave()
	return old, r.done(word != nil)
}

// store and load copy between memory of this process and the peer's; an aligned word in one step.
func store(dst, src []byte) {
	if n := len(src); n <= piece {
		memory.Store(dst, src)
		return
	}
	inPieces(dst, src)
}

func load(dst, src []byte) {
	if n := len(src); n == 4 || n == 8 {
		if word, ok := memory.Load(src); ok {
			copy(dst, word[:n])
			return
		}
	}
	inPieces(dst, src)
}

func inPieces(dst, src []byte) {
	for len(src) > piece && len(src) < farPast {
		copy(dst[:piece], src)
		dst, src = dst[piece:], src[piece:]
	}
	copy(dst, src)
}
