package wire

import "strconv"

// Sizes of heads.
const (
	PutSize     = 32
	RefusedSize = 16
)

// Put is the head of a write into the peer's memory: the payload goes to [Offset, Offset+len) of the region.
type Put struct {
	Index  uint32 // of the region, from its RKey
	Secret Secret // from its RKey
	Offset uint64 // bytes from the region's start
	Op     uint64 // names the operation, should it be refused
}

// AppendTo appends the head to b.
func (h Put) AppendTo(b []byte) []byte {
	b = le.AppendUint64(b, uint64(h.Index)) // and 4 reserved bytes
	b = le.AppendUint64(b, uint64(h.Secret))
	b = le.AppendUint64(b, h.Offset)
	return le.AppendUint64(b, h.Op)
}

// DecodePut reads the head of a Put.
//
// Errors: *FormatError.
func DecodePut(b []byte) (Put, error) {
	if len(b) != PutSize || le.Uint32(b[4:]) != 0 {
		return Put{}, badPut(b)
	}
	return Put{
		Index:  le.Uint32(b),
		Secret: Secret(le.Uint64(b[8:])),
		Offset: le.Uint64(b[16:]),
		Op:     le.Uint64(b[24:]),
	}, nil
}

func badPut(b []byte) error {
	if err := exact("Put", b, PutSize); err != nil {
		return err
	}
	return reserved("Put", b, 4, 8)
}

// RefusedCode is why an operation was not carried out.
type RefusedCode uint32

const (
	RefusedKey     RefusedCode = 1 // no such region, or a wrong secret: perhaps deregistered
	RefusedBounds  RefusedCode = 2 // not inside of the region
	RefusedRights  RefusedCode = 3 // the key doesn't allow it
	RefusedHandler RefusedCode = 4 // no handler for this active message
	RefusedLimit   RefusedCode = 5 // larger than the peer accepts
	RefusedAlign   RefusedCode = 6 // a word that is not aligned to its size
)

func (c RefusedCode) String() string {
	switch c {
	case RefusedKey:
		return "unknown key: its memory was deregistered, or it is of another node"
	case RefusedBounds:
		return "out of bounds"
	case RefusedRights:
		return "not allowed by the key"
	case RefusedHandler:
		return "no handler"
	case RefusedLimit:
		return "too large"
	case RefusedAlign:
		return "not aligned: a word must stand at a multiple of its size, and so must the memory that was registered"
	}
	return "refused(" + strconv.FormatUint(uint64(c), 10) + ")"
}

// Refused tells the initiator that an operation was accepted but not carried out. It is a control frame on the lane of the
// operation, before the acknowledgement that covers it; if it is lost with its lane, Lost.Refusals says that there was one.
type Refused struct {
	Op     uint64      // as in the operation's head
	Code   RefusedCode // never 0; codes that this side doesn't know are legal
	Detail uint32      // for people; its meaning depends on the code
}

// AppendTo appends the head to b.
func (h Refused) AppendTo(b []byte) []byte {
	b = le.AppendUint64(b, h.Op)
	b = le.AppendUint32(b, uint32(h.Code))
	return le.AppendUint32(b, h.Detail)
}

// DecodeRefused reads the head of a Refused.
//
// Errors: *FormatError.
func DecodeRefused(b []byte) (Refused, error) {
	if err := exact("Refused", b, RefusedSize); err != nil {
		return Refused{}, err
	}
	h := Refused{Op: le.Uint64(b), Code: RefusedCode(le.Uint32(b[8:])), Detail: le.Uint32(b[12:])}
	if h.Code == 0 {
		return Refused{}, bad("Refused", 8, "code is 0")
	}
	return h, nil
}
