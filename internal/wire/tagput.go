package wire

import "strconv"

// Sizes of the heads of the two frames by which a message that was offered is put.
const (
	TagClearSize = 24
	TagPutSize   = 24
)

// TagClear is the head of the word that there is room for a message that was offered to be put: To names one receive, and Size is how much of the message
// it takes, from the beginning. The peer may write that, once, and nothing else. It has no order with anything, and no limit stops it.
type TagClear struct {
	Op   uint64 // as in the offer
	To   uint64 // the receiver's choice
	Size uint64 // from 1 up to the message's
}

// AppendTo appends the head to b.
func (h TagClear) AppendTo(b []byte) []byte {
	return le.AppendUint64(appendPair(b, h.Op, h.To), h.Size)
}

// DecodeTagClear reads the head of a TagClear.
//
// Errors: *FormatError.
func DecodeTagClear(b []byte) (h TagClear, err error) {
	if err := exact("TagClear", b, TagClearSize); err != nil {
		return h, err
	}
	if size := le.Uint64(b[16:]); size == 0 || size > MaxOffer {
		return h, bad("TagClear", 16, "no room for a message: "+strconv.FormatUint(size, 10)+" bytes")
	}
	return TagClear{Op: le.Uint64(b), To: le.Uint64(b[8:]), Size: le.Uint64(b[16:])}, nil
}

// TagPut is the head of a frame whose payload is bytes of such a message, for their place in the receive; or, with a Code, has none: no more is put than
// was by then, and At says how much that is. Frames of one message have no order.
type TagPut struct {
	To   uint64 // as in the TagClear
	At   uint64
	Code RefusedCode // 0, or why the rest does not come
}

// AppendTo appends the head to b.
func (h TagPut) AppendTo(b []byte) []byte {
	return GetData{Op: h.To, At: h.At, Code: h.Code}.AppendTo(b)
}

// DecodeTagPut reads the head of a TagPut.
//
// Errors: *FormatError.
func DecodeTagPut(b []byte) (h TagPut, err error) {
	if err := exact("TagPut", b, TagPutSize); err != nil {
		return h, err
	}
	if err := reserved("TagPut", b, 20, 24); err != nil {
		return h, err
	}
	return TagPut{To: le.Uint64(b), At: le.Uint64(b[8:]), Code: RefusedCode(le.Uint32(b[16:]))}, nil
}
