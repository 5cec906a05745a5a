package shm

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid/transport/shm/ring"
)

// What the two sides say on the socket before there is a ring. Little-endian.
//
//	offer:   | "braidshm" | version 32 | slots 32 | data 32 | number 32 |     and the memory
//	answer:  | "braidshm" | version 32 | code 32 |
const (
	magic     = "braidshm"
	version   = 2
	offerLen  = 24
	answerLen = 16
)

// code is what an acceptor says.
type code uint32

const (
	welcome code = iota
	otherUser
	otherVersion
	noRoom
	badOffer
)

// err is the code for who dialed.
func (c code) err() error {
	switch c {
	case welcome:
		return nil
	case otherUser:
		return ErrUser
	case otherVersion:
		return ErrVersion
	case noRoom:
		return fmt.Errorf("%w: it has no room for more shared memory", ErrRefused)
	case badOffer:
		return fmt.Errorf("%w: it did not understand the offer", ErrRefused)
	}
	return fmt.Errorf("%w with code %d", ErrRefused, uint32(c))
}

// offer is what who dials says first.
type offer struct {
	shape  ring.Shape
	number uint32 // names the connection, for people
}

func (o offer) bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = binary.LittleEndian.AppendUint32(b, uint32(o.shape.Slots))
	b = binary.LittleEndian.AppendUint32(b, uint32(o.shape.Data))
	return binary.LittleEndian.AppendUint32(b, o.number)
}

// parseOffer reads an offer, or says with which code it is refused.
func parseOffer(b []byte) (offer, code) {
	if len(b) < answerLen-4 || !bytes.HasPrefix(b, []byte(magic)) {
		return offer{}, badOffer
	}
	if binary.LittleEndian.Uint32(b[8:]) != version {
		return offer{}, otherVersion
	}
	if len(b) != offerLen {
		return offer{}, badOffer
	}
	slots, data := binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	o := offer{number: binary.LittleEndian.Uint32(b[20:])}
	o.shape.Slots, o.shape.Data = int(min(slots, 1<<30)), int(min(data, 1<<31-1))
	if o.shape.Check() != nil {
		return o, badOffer
	}
	return o, welcome
}

func answerBytes(c code) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	return binary.LittleEndian.AppendUint32(b, uint32(c))
}

// parseAnswer reads an answer; not one: false.
func parseAnswer(b []byte) (code, bool) {
	if len(b) != answerLen || !bytes.HasPrefix(b, []byte(magic)) {
		return 0, false
	}
	if binary.LittleEndian.Uint32(b[8:]) != version {
		return otherVersion, true
	}
	return code(binary.LittleEndian.Uint32(b[12:])), true
}
