package greeting

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	magic     = "braidshm"
	version   = 3
	markLen   = 8 + cma.MarkLen
	offerLen  = 24 + markLen
	answerLen = 16 + markLen
	// Most is the longest of the two.
	Most = offerLen
)

var (
	// ErrUser: the process at the other end belongs to somebody else.
	ErrUser = errors.New("the peer is another user's process")
	// ErrVersion: the process at the other end is of another version.
	ErrVersion = errors.New("the peer's shared memory is of another version")
	// ErrRefused: the peer did not take the connection.
	ErrRefused = errors.New("the peer refuses")
)

// Code is what an acceptor says.
type Code uint32

const (
	Welcome Code = iota
	OtherUser
	OtherVersion
	NoRoom
	BadOffer
)

// Err is the code for who dialed.
func (c Code) Err() error {
	switch c {
	case Welcome:
		return nil
	case OtherUser:
		return ErrUser
	case OtherVersion:
		return ErrVersion
	case NoRoom:
		return fmt.Errorf("%w: it has no room for more shared memory", ErrRefused)
	case BadOffer:
		return fmt.Errorf("%w: it did not understand the offer", ErrRefused)
	}
	return fmt.Errorf("%w with code %d", ErrRefused, uint32(c))
}

// Offer is what who dials says first.
type Offer struct {
	Shape  ring.Shape
	Number uint32 // names the connection, for people
	Mark   cma.Mark
}

// Bytes is what goes on the socket.
func (o Offer) Bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.Shape.Slots))
	b = binary.LittleEndian.AppendUint32(b, uint32(o.Shape.Data))
	return appendMark(binary.LittleEndian.AppendUint32(b, o.Number), o.Mark)
}

// ParseOffer reads an offer, or says with which code it is refused.
func ParseOffer(b []byte) (Offer, Code) {
	if len(b) < 12 || !bytes.HasPrefix(b, []byte(magic)) {
		return Offer{}, BadOffer
	}
	if binary.LittleEndian.Uint32(b[8:]) != version {
		return Offer{}, OtherVersion
	}
	if len(b) != offerLen {
		return Offer{}, BadOffer
	}
	slots, data := binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	o := Offer{Number: binary.LittleEndian.Uint32(b[20:]), Mark: mark(b[24:])}
	o.Shape.Slots, o.Shape.Data = int(min(slots, 1<<30)), int(min(data, 1<<31-1))
	if o.Shape.Check() != nil {
		return o, BadOffer
	}
	return o, Welcome
}

// Answer is what the acceptor says.
type Answer struct {
	Code Code
	Mark cma.Mark
}

// Bytes is what goes on the socket.
func (a Answer) Bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return appendMark(binary.LittleEndian.AppendUint32(b, uint32(a.Code)), a.Mark)
}

// ParseAnswer reads an answer; not one: false.
func ParseAnswer(b []byte) (Answer, bool) {
	if len(b) < 16 || !bytes.HasPrefix(b, []byte(magic)) {
		return Answer{}, false
	}
	if binary.LittleEndian.Uint32(b[8:]) != version {
		return Answer{Code: OtherVersion}, true
	}
	if len(b) != answerLen {
		return Answer{}, false
	}
	return Answer{Code: Code(binary.LittleEndian.Uint32(b[12:])), Mark: mark(b[16:])}, true
}

func appendMark(b []byte, m cma.Mark) []byte {
	return append(binary.LittleEndian.AppendUint64(b, m.Addr), m.Bytes[:]...)
}

func mark(b []byte) (m cma.Mark) {
	m.Addr = binary.LittleEndian.Uint64(b)
	copy(m.Bytes[:], b[8:])
	return m
}
