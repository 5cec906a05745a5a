package bulk

import "unsafe"

const canPast = true

// line is what is stored at a time.
const line = 64

// past copies n bytes, a multiple of line, to a multiple of line, past the caches, and lets no later store pass by.
//
//go:noescape
func past(dst, src *byte, n int)

// Past is copy past the caches, of as much as both have.
func Past(dst, src []byte) {
	n := min(len(dst), len(src))
	if n < 2*line {
		copy(dst, src)
		return
	}
	head := int(-uintptr(unsafe.Pointer(&dst[0])) & (line - 1))
	copy(dst[:head], src)
	whole := (n - head) &^ (line - 1)
	past(&dst[head], &src[head], whole)
	copy(dst[head+whole:n], src[head+whole:])
}
