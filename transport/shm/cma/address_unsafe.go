package cma

import "unsafe"

// MarkLen is the bytes of a mark.
const MarkLen = 16

// Mark is random bytes, and where they stand in their process for as long as it offers memory.
type Mark struct {
	Addr  uint64
	Bytes [MarkLen]byte
}

// NewMark makes this process's: it stands where it was made, so what is kept is the pointer. Not inlined: it would stand on a stack, and stacks move.
//
//go:noinline
func NewMark(rand func() uint64) *Mark {
	m := new(Mark)
	for i := 0; i < MarkLen; i += 8 {
		for k, r := 0, rand(); k < 8; k, r = k+1, r>>8 {
			m.Bytes[i+k] = byte(r)
		}
	}
	m.Addr = Address(m.Bytes[:])
	return m
}

// Address is where bytes stand. Memory of the Go heap does not move; who passes it on keeps the bytes reachable.
func Address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
