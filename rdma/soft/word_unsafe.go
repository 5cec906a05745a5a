package soft

import (
	"sync/atomic"
	"unsafe"
)

// misaligned is how far memory is from a multiple of 8.
func misaligned(b []byte) int { return int(uintptr(unsafe.Pointer(&b[0])) & 7) }

// word is b as a word for atomics, or nil if it isn't 8 aligned bytes.
func word(b []byte) *uint64 {
	if len(b) != 8 || misaligned(b) != 0 {
		return nil
	}
	return (*uint64)(unsafe.Pointer(&b[0]))
}

// store copies src to dst, of one length. 8 bytes to an aligned place are stored as one word, so that who polls
// it atomically sees the old or the new value.
func store(dst, src []byte) {
	if w := word(dst); w != nil && len(src) == 8 {
		var v uint64
		copy((*[8]byte)(unsafe.Pointer(&v))[:], src)
		atomic.StoreUint64(w, v)
		return
	}
	copy(dst, src)
}

// load copies src to dst, of one length; 8 bytes from an aligned place as one word.
func load(dst, src []byte) {
	if w := word(src); w != nil && len(dst) == 8 {
		v := atomic.LoadUint64(w)
		copy(dst, (*[8]byte)(unsafe.Pointer(&v))[:])
		return
	}
	copy(dst, src)
}

// native is v as the processor keeps it in memory.
func native(v uint64) [8]byte { return *(*[8]byte)(unsafe.Pointer(&v)) }
