package pattern

import (
	"bytes"
	"encoding/binary"
)

// WordLen is the size of an operation's number.
const WordLen = 8

// Odd multipliers: each operation and each word of its payload has a content of its own.
const (
	perOperation = 0x9e3779b97f4a7c15
	PerWord      = 0xbf58476d1ce4e5b9
)

// Base is what the words of an operation's payload begin with. Client and server count for themselves.
func Base(seq uint64, server bool) uint64 {
	b := (seq + 1) * perOperation
	if server {
		b = ^b
	}
	return b
}

// Fill writes the payload of an operation.
func Fill(p []byte, base uint64) {
	for len(p) >= WordLen {
		binary.LittleEndian.PutUint64(p, base)
		base += PerWord
		p = p[WordLen:]
	}
	var w [WordLen]byte
	binary.LittleEndian.PutUint64(w[:], base)
	copy(p, w[:])
}

// Filled says whether p is the payload of an operation.
func Filled(p []byte, base uint64) bool {
	for len(p) >= WordLen {
		if binary.LittleEndian.Uint64(p) != base {
			return false
		}
		base += PerWord
		p = p[WordLen:]
	}
	var w [WordLen]byte
	binary.LittleEndian.PutUint64(w[:], base)
	return bytes.Equal(p, w[:len(p)])
}

// Blank says whether nothing has been written to p since it was cleared.
func Blank(p []byte) bool {
	for len(p) >= WordLen {
		if binary.LittleEndian.Uint64(p) != 0 {
			return false
		}
		p = p[WordLen:]
	}
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}
