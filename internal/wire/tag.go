package wire

import "strconv"

// Sizes of what stands in the header of a tagged message, and of the head of a TagNote.
const (
	TaggedSize   = 8
	TagSyncSize  = 16
	TagOfferSize = 40
	TagNoteSize  = 16
)

// TagOfferPut is where a TagOffer says that it is to be put.
const TagOfferPut = 36

// Tagged is the header of a tagged message whose payload is the message.
type Tagged struct {
	Tag uint64
}

// AppendTo appends it to b.
func (h Tagged) AppendTo(b []byte) []byte { return le.AppendUint64(b, h.Tag) }

// DecodeTagged reads it.
//
// Errors: *FormatError.
func DecodeTagged(b []byte) (h Tagged, err error) {
	if len(b) != TaggedSize {
		return h, exact("Tagged", b, TaggedSize)
	}
	return Tagged{le.Uint64(b)}, nil
}

// TagSync is that of one whose sender is told, by a TagNote, when it is matched.
type TagSync struct {
	Tag uint64
	Op  uint64 // names the operation
}

// AppendTo appends it to b.
func (h TagSync) AppendTo(b []byte) []byte { return appendPair(b, h.Tag, h.Op) }

// DecodeTagSync reads it.
//
// Errors: *FormatError.
func DecodeTagSync(b []byte) (h TagSync, err error) {
	if len(b) != TagSyncSize {
		return h, exact("TagSync", b, TagSyncSize)
	}
	return TagSync{le.Uint64(b), le.Uint64(b[8:])}, nil
}

// MaxOffer is the most that a message may have that is offered. No process has as much memory, and who receives the message may want to make room for it.
const MaxOffer = 1 << 46

// TagOffer is that of a large one: it has no payload, the receiver reads the message from the sender's memory by Get, or asks for it by TagClear, and
// then tells him. With the handler's id for a tag it is the header of an active message that is offered, whose own header is the payload.
type TagOffer struct {
	TagSync
	Size   uint64 // bytes of the message, at most MaxOffer
	Secret Secret // of the memory that they are
	Index  uint32 // of it
	Put    bool   // who receives it whole asks for it by TagClear
}

// AppendTo appends it to b.
func (h TagOffer) AppendTo(b []byte) []byte {
	b = appendPair(h.TagSync.AppendTo(b), h.Size, uint64(h.Secret))
	last := uint64(h.Index)
	if h.Put {
		last |= 1 << 32
	}
	return le.AppendUint64(b, last) // and 3 reserved bytes
}

// DecodeTagOffer reads it.
//
// Errors: *FormatError.
func DecodeTagOffer(b []byte) (h TagOffer, err error) {
	if err := exact("TagOffer", b, TagOfferSize); err != nil {
		return h, err
	}
	if err := reserved("TagOffer", b, 37, 40); err != nil {
		return h, err
	}
	if b[36] > 1 {
		return h, bad("TagOffer", 36, "neither get nor put: "+strconv.Itoa(int(b[36])))
	}
	if size := le.Uint64(b[16:]); size > MaxOffer {
		return h, bad("TagOffer", 16, "no process has so many bytes: "+strconv.FormatUint(size, 10))
	}
	return TagOffer{TagSync: TagSync{le.Uint64(b), le.Uint64(b[8:])}, Size: le.Uint64(b[16:]), Secret: Secret(le.Uint64(b[24:])), Index: le.Uint32(b[32:]), Put: b[36] == 1}, nil
}

// TagCode is what a TagNote says.
type TagCode uint8

const (
	TagMatched   TagCode = 1 // the message is matched; of an offer: and read
	TagGivenUp   TagCode = 2 // it was matched, and the receiver then gave up reading it
	TagWithdraw  TagCode = 3 // the sender asks for it back
	TagWithdrawn TagCode = 4 // the receiver has let go of it: nobody will have it
	TagNoHandler TagCode = 5 // of an offer of an active message: nobody there takes offers of its id
)

func (c TagCode) String() string {
	switch c {
	case TagMatched:
		return "matched"
	case TagGivenUp:
		return "given up"
	case TagWithdraw:
		return "withdraw"
	case TagWithdrawn:
		return "withdrawn"
	case TagNoHandler:
		return "no handler"
	}
	return "code " + strconv.Itoa(int(c))
}

// TagNote is the head of a word about a tagged message, or an offer of an active one: what became of it, or that its sender wants it back. It has no order with anything, and
// no limit of messages stops it.
type TagNote struct {
	Code TagCode
	Op   uint64 // as in the message
}

// AppendTo appends the head to b.
func (h TagNote) AppendTo(b []byte) []byte { return appendPair(b, uint64(h.Code), h.Op) }

// DecodeTagNote reads the head of a TagNote.
//
// Errors: *FormatError.
func DecodeTagNote(b []byte) (h TagNote, err error) {
	if err := exact("TagNote", b, TagNoteSize); err != nil {
		return h, err
	}
	if err := reserved("TagNote", b, 1, 8); err != nil {
		return h, err
	}
	if b[0] < byte(TagMatched) || b[0] > byte(TagNoHandler) {
		return h, bad("TagNote", 0, "no such code: "+strconv.Itoa(int(b[0])))
	}
	return TagNote{TagCode(b[0]), le.Uint64(b[8:])}, nil
}
