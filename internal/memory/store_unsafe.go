package memory

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Store copies src to dst. Eight or four bytes to an aligned place are stored as one atomic word, so that a
// reader of the word by Load64 sees the old or the new value and neither more nor less.
func Store(dst, src []byte) {
	if len(src) == 8 && len(dst) >= 8 {
		if w := word[atomic.Uint64](dst); w != nil {
			w.Store(binary.NativeEndian.Uint64(src))
			return
		}
	}
	if len(src) == 4 && len(dst) >= 4 {
		if w := word[atomic.Uint32](dst); w != nil {
			w.Store(binary.NativeEndian.Uint32(src))
			return
		}
	}
	copy(dst, src)
}

// Load is Store's other half: an aligned word of eight or four bytes as it stood at one moment. ok says whether src is one.
func Load(src []byte) (b [8]byte, ok bool) {
	switch len(src) {
	case 8:
		if w := word[atomic.Uint64](src); w != nil {
			binary.NativeEndian.PutUint64(b[:], w.Load())
			return b, true
		}
	case 4:
		if w := word[atomic.Uint32](src); w != nil {
			binary.NativeEndian.PutUint32(b[:], w.Load())
			return b, true
		}
	}
	return b, false
}

// word is where b begins as a word, nil if that is not aligned to the word's size. b is as long at least.
func word[W atomic.Uint32 | atomic.Uint64](b []byte) *W {
	p := unsafe.Pointer(&b[0])
	if uintptr(p)%unsafe.Sizeof(*new(W)) != 0 {
		return nil
	}
	return (*W)(p)
}

// Word64 returns the aligned word at offset, or nil if there is none.
func (r *Region) Word64(offset uint64) *atomic.Uint64 {
	if n := uint64(len(r.Bytes)); n < 8 || offset > n-8 {
		return nil
	}
	return word[atomic.Uint64](r.Bytes[offset:])
}

// Word32 is Word64 of a word of four bytes.
func (r *Region) Word32(offset uint64) *atomic.Uint32 {
	if n := uint64(len(r.Bytes)); n < 4 || offset > n-4 {
		return nil
	}
	return word[atomic.Uint32](r.Bytes[offset:])
}

// Aligned makes zeroed memory of n bytes that starts at a cache line.
func Aligned(n int) []byte {
	const line = 64
	b := make([]byte, n+line)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (line - 1))
	return b[skip : skip+n : skip+n]
}
