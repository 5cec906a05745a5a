package memory

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/openbraid/braid/internal/wire"
)

// Put writes into the region that a peer's put names. The code is 0 or says why nothing was written.
func (t *Table) Put(h wire.Put, src []byte) wire.RefusedCode {
	r, dst, code := t.Target(h.Index, h.Secret, wire.Write, h.Offset, uint64(len(src)))
	if code != 0 || !r.Enter() {
		return max(code, wire.RefusedKey)
	}
	if r.Watch != nil {
		r.Watch(h.Offset, src)
	}
	Store(dst, src)
	r.Leave()
	return 0
}

// PutSignal is Put, and then the change of a word: who sees the word's new value by Load64 sees the bytes. If one of the
// two can't be done, neither is.
func (t *Table) PutSignal(h wire.PutSignal, src []byte) wire.RefusedCode {
	s := h.Signal
	r, _, code := t.Target(s.Index, s.Secret, wire.Write, s.Offset, 8)
	if code != 0 || !r.Enter() {
		return max(code, wire.RefusedKey)
	}
	defer r.Leave()
	word := r.Word64(s.Offset)
	if word == nil {
		return wire.RefusedBounds
	}
	if code := t.Put(h.Put, src); code != 0 {
		return code
	}
	if r.Watch != nil {
		v := s.Value
		if s.Add {
			v += word.Load()
		}
		r.Watch(s.Offset, binary.LittleEndian.AppendUint64(nil, v))
	}
	if s.Add {
		word.Add(s.Value)
	} else {
		word.Store(s.Value)
	}
	return 0
}

// Change carries out a peer's atomic operation on one word, in one step towards everything else that is atomic in this process, and says what the word
// was. The code is 0 or says why nothing was changed.
func (t *Table) Change(h wire.AtomicOp) (old uint64, code wire.RefusedCode) {
	r, _, code := t.Target(h.Index, h.Secret, wire.Atomic, h.Offset, uint64(h.Size))
	if code != 0 || !r.Enter() {
		return 0, max(code, wire.RefusedKey)
	}
	defer r.Leave()
	if h.Size == 4 {
		w := r.Word32(h.Offset)
		if w == nil {
			return 0, wire.RefusedAlign
		}
		r.watch(h, uint64(w.Load()))
		return apply32(w, &h), 0
	}
	w := r.Word64(h.Offset)
	if w == nil {
		return 0, wire.RefusedAlign
	}
	r.watch(h, w.Load())
	return apply(w, h.Change, h.Value, h.Compare), 0
}

// Apply is Change of a word that is at hand: b is 4 or 8 bytes, as h says, and aligned.
func Apply(b []byte, h *wire.AtomicOp) (old uint64) {
	if h.Size == 4 {
		return apply32(word[atomic.Uint32](b), h)
	}
	return apply(word[atomic.Uint64](b), h.Change, h.Value, h.Compare)
}

func apply32(w *atomic.Uint32, h *wire.AtomicOp) (old uint64) {
	return uint64(apply(w, h.Change, uint32(h.Value), uint32(h.Compare)))
}

// watch tells a checker what the word is going to be, if nobody else changes it.
func (r *Region) watch(h wire.AtomicOp, old uint64) {
	if r.Watch == nil {
		return
	}
	var w atomic.Uint64
	w.Store(old)
	apply(&w, h.Change, h.Value, h.Compare)
	r.Watch(h.Offset, binary.LittleEndian.AppendUint64(nil, w.Load())[:h.Size])
}

// atomically is a word of T.
type atomically[T uint32 | uint64] interface {
	Load() T
	Add(T) T
	And(T) T
	Or(T) T
	Swap(T) T
	CompareAndSwap(T, T) bool
}

// apply changes a word and says what it was.
func apply[T uint32 | uint64, W atomically[T]](w W, c wire.Change, v, compare T) (old T) {
	switch c {
	case wire.ChangeAdd:
		return w.Add(v) - v
	case wire.ChangeAnd:
		return w.And(v)
	case wire.ChangeOr:
		return w.Or(v)
	case wire.ChangeXor:
		for old = w.Load(); !w.CompareAndSwap(old, old^v); old = w.Load() {
		}
		return old
	case wire.ChangeSwap:
		return w.Swap(v)
	case wire.ChangeCompare:
		for old = w.Load(); old == compare && !w.CompareAndSwap(old, v); old = w.Load() {
		}
		return old
	}
	panic("memory: the decoder let " + c.String() + " pass")
}
