package memory

import (
	"sync/atomic"
	"unsafe"
)

// Store copies src to dst. Eight bytes to an aligned place are stored as one atomic word, so that a
// reader of the word by Load64 sees the old or the new value and neither more nor less.
func Store(dst, src []byte) {
	if len(src) == 8 && len(dst) >= 8 && uintptr(unsafe.Pointer(&dst[0]))&7 == 0 {
		var v uint64
		copy((*[8]byte)(unsafe.Pointer(&v))[:], src)
		atomic.StoreUint64((*uint64)(unsafe.Pointer(&dst[0])), v)
		return
	}
	copy(dst, src)
}

// Word returns the aligned word at offset, or nil if there is none.
func (r *Region) Word(offset uint64) *uint64 {
	if n := uint64(len(r.Bytes)); n < 8 || offset > n-8 {
		return nil
	}
	p := unsafe.Pointer(&r.Bytes[offset])
	if uintptr(p)&7 != 0 {
		return nil
	}
	return (*uint64)(p)
}

// Aligned makes zeroed memory of n bytes that starts at a cache line.
func Aligned(n int) []byte {
	const line = 64
	b := make([]byte, n+line)
	skip := int(-uintptr(unsafe.Pointer(&b[0])) & (line - 1))
	return b[skip : skip+n : skip+n]
}
