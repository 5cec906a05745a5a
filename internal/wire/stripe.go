package wire

import "errors"

// AMPartSize is the size of the head of an AMPart; that of an AMLast is as AMFirst's.
const AMPartSize = 24

// AMPart is the head of a part of a message that goes over several lanes at once: the payload is the message from Offset on.
// Parts have no order, among themselves or with anything; the message's place in the order is that of its AMLast.
type AMPart struct {
	Msg    uint64
	Offset uint64
	Total  uint64 // bytes of the whole message, in each part, since any may come first
}

// AppendTo appends the head to b.
func (h AMPart) AppendTo(b []byte) []byte {
	return le.AppendUint64(appendPair(b, h.Msg, h.Offset), h.Total)
}

// DecodeAMPart reads the head of an AMPart.
//
// Errors: *FormatError.
func DecodeAMPart(b []byte) (h AMPart, err error) {
	if len(b) != AMPartSize {
		return h, badSize("AMPart", len(b), AMPartSize)
	}
	h.Msg = le.Uint64(b)
	h.Offset = le.Uint64(b[8:])
	h.Total = le.Uint64(b[16:])
	return h, nil
}

// AMLast closes a message of parts. It is posted when all of them are known to be accepted, and has no payload.
type AMLast AMFirst

// AppendTo appends the head to b. It panics if Header is longer than MaxHeader: that is the caller's to check.
func (h AMLast) AppendTo(b []byte) []byte { return AMFirst(h).AppendTo(b) }

// DecodeAMLast reads the head of an AMLast.
//
// Errors: *FormatError.
func DecodeAMLast(b []byte) (AMLast, error) {
	h, err := DecodeAMFirst(b)
	if err != nil {
		err = ofLast(err)
	}
	return AMLast(h), err
}

// ofLast is apart so that success costs nothing.
func ofLast(err error) error {
	var format *FormatError
	if errors.As(err, &format) {
		format.Message = "AMLast"
	}
	return err
}
