package wire

import (
	"fmt"
	"hash/crc32"
)

// Rights are what a remote key allows.
type Rights uint8

const (
	Read   Rights = 1
	Write  Rights = 2
	Atomic Rights = 4

	knownRights = Read | Write | Atomic
)

func (r Rights) String() string {
	if r&^knownRights != 0 {
		return fmt.Sprintf("rights(%#x)", uint8(r))
	}
	s := [...]byte{'-', '-', '-'}
	for i, right := range [...]Rights{Read, Write, Atomic} {
		if r&right != 0 {
			s[i] = "rwa"[i]
		}
	}
	return string(s[:])
}

// RKey names a region of memory of some process and proves that its holder may use it. Its bytes travel by any way, through
// any hands: they come from nobody that can be trusted, and carry a checksum so that damage is told from malice.
type RKey struct {
	Rights      Rights
	Index       uint32
	Secret      Secret
	Size        uint64 // bytes of the region
	Incarnation uint64 // of the process that owns it
}

const (
	// RKeySize is the size of a packed RKey.
	RKeySize = 36

	rkeyVersion  = 1
	rkeyOffCheck = 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendTo appends the packed key to b.
func (k RKey) AppendTo(b []byte) []byte {
	start := len(b)
	b = append(b, rkeyVersion, byte(k.Rights), 0, 0)
	b = le.AppendUint32(b, k.Index)
	b = le.AppendUint64(b, uint64(k.Secret))
	b = le.AppendUint64(b, k.Size)
	b = le.AppendUint64(b, k.Incarnation)
	return le.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// DecodeRKey reads a packed key. That it is well-formed says nothing about its being valid: only its owner knows.
//
// Errors: *RKeyError.
func DecodeRKey(b []byte) (RKey, error) {
	switch {
	case len(b) == 0:
		return RKey{}, &RKeyError{"it is empty"}
	case b[0] != rkeyVersion:
		// First, since another version may have another size.
		return RKey{}, &RKeyError{fmt.Sprintf("it has version %d, this side knows %d", b[0], rkeyVersion)}
	case len(b) != RKeySize:
		return RKey{}, &RKeyError{fmt.Sprintf("it has %d bytes, must have %d", len(b), RKeySize)}
	case le.Uint32(b[rkeyOffCheck:]) != crc32.Checksum(b[:rkeyOffCheck], castagnoli):
		return RKey{}, &RKeyError{"its checksum does not match: it was damaged"}
	case Rights(b[1])&^knownRights != 0:
		return RKey{}, &RKeyError{fmt.Sprintf("it has unknown rights %#x", b[1])}
	case b[2] != 0 || b[3] != 0:
		return RKey{}, &RKeyError{"its reserved bytes are not zero"}
	}
	return RKey{
		Rights:      Rights(b[1]),
		Index:       le.Uint32(b[4:]),
		Secret:      Secret(le.Uint64(b[8:])),
		Size:        le.Uint64(b[16:]),
		Incarnation: le.Uint64(b[24:]),
	}, nil
}
