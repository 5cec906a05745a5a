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
	word := r.Word(s.Offset)
	if word == nil {
		return wire.RefusedBounds
	}
	if code := t.Put(h.Put, src); code != 0 {
		return code
	}
	if r.Watch != nil {
		v := s.Value
		if s.Add {
			v += atomic.LoadUint64(word)
		}
		r.Watch(s.Offset, binary.LittleEndian.AppendUint64(nil, v))
	}
	if s.Add {
		atomic.AddUint64(word, s.Value)
	} else {
		atomic.StoreUint64(word, s.Value)
	}
	return 0
}
