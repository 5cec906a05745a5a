package perf

import (
	"bytes"
	"encoding/binary"
)

// wordLen is the size of an operation's number.
const wordLen = 8

// Odd multipliers: each operation and each word of its payload has a content of its own.
const (
	perOperation = 0x9e3779b97f4a7c15
	perWord      = 0xbf58476d1ce4e5b9
)

// base is what the words of an operation's payload begin with. Client and server count for themselves.
func base(seq uint64, server bool) uint64 {
	b := (seq + 1) * perOperation
	if server {
		b = ^b
	}
	return b
}

// fill writes the payload of an operation.
func fill(p []byte, base uint64) {
	for len(p) >= wordLen {
		binary.LittleEndian.PutUint64(p, base)
		base += perWord
		p = p[wordLen:]
	}
	var w [wordLen]byte
	binary.LittleEndian.PutUint64(w[:], base)
	copy(p, w[:])
}

// filled says whether p is the payload of an operation.
func filled(p []byte, base uint64) bool {
	for len(p) >= wordLen {
		if binary.LittleEndian.Uint64(p) != base {
			return false
		}
		base += perWord
		p = p[wordLen:]
	}
	var w [wordLen]byte
	binary.LittleEndian.PutUint64(w[:], base)
	return bytes.Equal(p, w[:len(p)])
}

// blank says whether nothing has been written to p since it was cleared.
func blank(p []byte) bool {
	for len(p) >= wordLen {
		if binary.LittleEndian.Uint64(p) != 0 {
			return false
		}
		p = p[wordLen:]
	}
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}
