package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var le = binary.LittleEndian

var (
	// ErrMagic: the first bytes are not a Preface's. Whoever is at the other end doesn't speak braid.
	ErrMagic = errors.New("wire: not a braid peer: it did not start with braid's magic bytes; check address and port")
	// ErrVersion is matched by a *VersionError.
	ErrVersion = errors.New("wire: protocol versions do not match")
	// ErrUnsupported is matched by an *UnsupportedError.
	ErrUnsupported = errors.New("wire: the peer requires what this side does not know")
	// ErrFormat is matched by a *FormatError.
	ErrFormat = errors.New("wire: malformed frame")
	// ErrRKey is matched by an *RKeyError.
	ErrRKey = errors.New("wire: not a valid remote key")
)

// FormatError says which byte of which message can't be. The message's sender is broken or hostile.
type FormatError struct {
	Message string // "Lost", as Name gives it
	Offset  int    // of the first byte that is wrong; the length, if bytes are missing
	Reason  string
}

func (e *FormatError) Error() string {
	return "wire: malformed " + e.Message + " at byte " + strconv.Itoa(e.Offset) + ": " + e.Reason
}

func (e *FormatError) Unwrap() error { return ErrFormat }

// VersionError names the versions of both sides.
type VersionError struct {
	Ours, Theirs Version
}

func (e *VersionError) Error() string {
	older := "the peer"
	if e.Theirs.Major > e.Ours.Major {
		older = "this side"
	}
	return "wire: the peer speaks protocol " + e.Theirs.String() + ", this side " + e.Ours.String() + ": upgrade " + older
}

func (e *VersionError) Unwrap() error { return ErrVersion }

// UnsupportedError names what the peer requires and this side doesn't know.
type UnsupportedError struct {
	Message string
	Flags   uint32   // of a Preface
	Caps    Caps     // required capability bits
	TLVs    []uint16 // types, with the bit that makes them required, in the order in which they came
}

func (e *UnsupportedError) Error() string {
	var parts []string
	if e.Flags != 0 {
		parts = append(parts, fmt.Sprintf("flags %#x", e.Flags))
	}
	if e.Caps != 0 {
		parts = append(parts, fmt.Sprintf("capabilities %#x", uint32(e.Caps)))
	}
	for _, t := range e.TLVs {
		parts = append(parts, fmt.Sprintf("field %#04x", t))
	}
	return "wire: the peer's " + e.Message + " requires " + strings.Join(parts, ", ") +
		", unknown to protocol " + Ours().String() + " of this side: upgrade it, or switch that off at the peer"
}

func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// RKeyError says why bytes are not a remote key. It never shows them.
type RKeyError struct {
	Reason string
}

func (e *RKeyError) Error() string {
	return "wire: not a valid remote key: " + e.Reason + "; hand the bytes of the key on unchanged"
}

func (e *RKeyError) Unwrap() error { return ErrRKey }

func bad(message string, off int, reason string) error {
	return &FormatError{Message: message, Offset: off, Reason: reason}
}

// badSize is the error of a message that has a size of its own; what is missing or too much starts at Offset.
func badSize(message string, got, want int) error {
	return bad(message, min(got, want), fmt.Sprintf("it has %d bytes, must have %d", got, want))
}

// exact checks a fixed size.
func exact(message string, b []byte, want int) error {
	if len(b) != want {
		return badSize(message, len(b), want)
	}
	return nil
}

// reserved checks that b[from:to] is zero.
func reserved(message string, b []byte, from, to int) error {
	for i := from; i < to; i++ {
		if b[i] != 0 {
			return bad(message, i, "reserved byte is not zero")
		}
	}
	return nil
}
