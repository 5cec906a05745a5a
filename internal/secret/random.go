package secret

import (
	"crypto/rand"
	"encoding/binary"
)

// Random is a number that nobody can guess: keys and names of incarnations are made of such.
func Random() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
