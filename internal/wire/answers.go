package wire

import (
	"fmt"
	"strconv"
)

// The answers to a Hello that say no. Each echoes the Hello's nonce: an answer without it proves nothing.

// Busy: not this instance, but try another one. Nothing is wrong with the endpoint.
type Busy struct {
	Instance Instance
	Nonce    [16]byte
}

const busySize = instanceSize + 16

// AppendTo appends the message to b.
func (m Busy) AppendTo(b []byte) []byte {
	return append(m.Instance.appendTo(b), m.Nonce[:]...)
}

// DecodeBusy reads a Busy.
//
// Errors: *FormatError.
func DecodeBusy(b []byte) (Busy, error) {
	if err := exact("Busy", b, busySize); err != nil {
		return Busy{}, err
	}
	var m Busy
	var err error
	if m.Instance, err = instanceAt("Busy", b, 0); err != nil {
		return Busy{}, err
	}
	copy(m.Nonce[:], b[instanceSize:])
	return m, nil
}

// EPClosed: the endpoint that the Hello is for isn't there any more. Another incarnation
// than the known one says that the peer's process restarted.
type EPClosed struct {
	Incarnation uint64 // the sender's, never 0
	Nonce       [16]byte
}

const epClosedSize = 24

// AppendTo appends the message to b.
func (m EPClosed) AppendTo(b []byte) []byte {
	return append(le.AppendUint64(b, m.Incarnation), m.Nonce[:]...)
}

// DecodeEPClosed reads an EPClosed.
//
// Errors: *FormatError.
func DecodeEPClosed(b []byte) (EPClosed, error) {
	if err := exact("EPClosed", b, epClosedSize); err != nil {
		return EPClosed{}, err
	}
	m := EPClosed{Incarnation: le.Uint64(b)}
	if m.Incarnation == 0 {
		return EPClosed{}, bad("EPClosed", 0, "incarnation is 0")
	}
	copy(m.Nonce[:], b[8:])
	return m, nil
}

// RejectCode is why a peer wants nothing to do with us.
type RejectCode uint16

const (
	RejectVersion RejectCode = 1 // the versions don't match, or something required is unknown
	RejectSecret  RejectCode = 2 // no secret, or not the same
	RejectLimit   RejectCode = 3 // too many endpoints, lanes or half-open handshakes
	RejectMode    RejectCode = 4 // not with this error mode
	RejectBad     RejectCode = 5 // a message that can't be
)

func (c RejectCode) String() string {
	switch c {
	case RejectVersion:
		return "version"
	case RejectSecret:
		return "secret"
	case RejectLimit:
		return "limit"
	case RejectMode:
		return "mode"
	case RejectBad:
		return "bad message"
	}
	return "reject(" + strconv.Itoa(int(c)) + ")"
}

// Reject ends a handshake for good. Its text is shown to people.
type Reject struct {
	Code  RejectCode // never 0; codes that this side doesn't know are legal, the text says the rest
	Nonce [16]byte
	Text  string // at most MaxText bytes; AppendTo makes any text valid
}

const rejectSize = 24

// AppendTo appends the message to b.
func (m Reject) AppendTo(b []byte) []byte {
	start := len(b)
	b = le.AppendUint16(b, uint16(m.Code))
	b = append(b, 0, 0, 0, 0, 0, 0) // length, reserved
	b = append(b, m.Nonce[:]...)
	b = appendText(b, m.Text, MaxText)
	le.PutUint16(b[start+2:], uint16(len(b)-start-rejectSize))
	return b
}

// DecodeReject reads a Reject.
//
// Errors: *FormatError.
func DecodeReject(b []byte) (Reject, error) {
	const name = "Reject"
	if len(b) < rejectSize {
		return Reject{}, badSize(name, len(b), rejectSize)
	}
	m := Reject{Code: RejectCode(le.Uint16(b))}
	if m.Code == 0 {
		return Reject{}, bad(name, 0, "code is 0")
	}
	size := int(le.Uint16(b[2:]))
	if size > MaxText {
		return Reject{}, bad(name, 2, fmt.Sprintf("text has %d bytes, may have %d", size, MaxText))
	}
	if err := exact(name, b, rejectSize+size); err != nil {
		return Reject{}, err
	}
	if err := reserved(name, b, 4, 8); err != nil {
		return Reject{}, err
	}
	copy(m.Nonce[:], b[8:])
	if m.Text = string(b[rejectSize:]); !showable(m.Text) {
		return Reject{}, bad(name, rejectSize, "text can't be shown")
	}
	return m, nil
}
