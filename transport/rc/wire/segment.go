package wire

import "encoding/binary"

// MaxHead is the longest head of a frame.
const MaxHead = 4096

// A segment is one SEND: this header, then frames or a part of one. Little-endian.
//
//	 0      1       2          4         8
//	| kind | flags | reserved | granted | acknowledgement |
const (
	SegmentLen = 16

	offSegFlags, offGranted, offSegAck = 1, 4, 8
)

// Kind is what follows the header of a segment.
type Kind uint8

const (
	Nothing Kind = iota // the header is all
	Frames              // whole frames
	First               // a frame that goes on in further segments: its header, head, and the begin of its payload
	More                // more of its payload; the last one ends it
	Offers              // a frame whose payload is to be read by the peer: where it is, then its header and head
	Kinds
)

const (
	SegAckNow  = 1 // acknowledge at once what you have accepted, with this segment
	SegControl = 2 // of First and More: a part of the control frame that is under way, not of the data frame
	SegKnown   = SegAckNow | SegControl
)

// Segment is the header of a segment.
type Segment struct {
	Kind    Kind
	Flags   uint8
	Granted uint32 // receives posted for the peer so far
	Ack     uint64 // data frames accepted so far
}

// Emit writes it.
func (s Segment) Emit(b []byte) {
	_ = b[SegmentLen-1]
	b[0], b[offSegFlags] = uint8(s.Kind), s.Flags
	b[2], b[3] = 0, 0
	binary.LittleEndian.PutUint32(b[offGranted:], s.Granted)
	binary.LittleEndian.PutUint64(b[offSegAck:], s.Ack)
}

// ParseSegment reads one; whether it may come is Valid.
func ParseSegment(b []byte) Segment {
	_ = b[SegmentLen-1]
	return Segment{
		Kind: Kind(b[0]), Flags: b[offSegFlags],
		Granted: binary.LittleEndian.Uint32(b[offGranted:]), Ack: binary.LittleEndian.Uint64(b[offSegAck:]),
	}
}

// Valid says whether a segment of so many bytes may begin so.
func (s Segment) Valid(n int) bool {
	return s.Kind < Kinds && s.Flags&^SegKnown == 0 && (s.Kind != Nothing || n == SegmentLen) && (s.Kind == First || s.Kind == More || s.Flags&SegControl == 0)
}

// Offer is where the payload of an offered frame can be read, until the frame is acknowledged:
//
//	 0         8     12  16
//	| address | key | 0 | frame header | head
type Offer struct {
	Addr uint64
	RKey uint32
}

// OfferLen is how long it is.
const OfferLen = 16

// Emit writes it.
func (o Offer) Emit(b []byte) {
	_ = b[OfferLen-1]
	binary.LittleEndian.PutUint64(b, o.Addr)
	binary.LittleEndian.PutUint32(b[8:], o.RKey)
	binary.LittleEndian.PutUint32(b[12:], 0)
}

// ParseOffer reads one, of at least OfferLen bytes; false: it can't be.
func ParseOffer(b []byte) (Offer, bool) {
	o := Offer{Addr: binary.LittleEndian.Uint64(b), RKey: binary.LittleEndian.Uint32(b[8:])}
	return o, binary.LittleEndian.Uint32(b[12:OfferLen]) == 0
}

// A frame within a segment: this header, then head, then payload.
//
//	 0      4    5       6
//	| size | id | flags | head |
const (
	HeaderLen = 8

	offID, offFlags, offHead = 4, 5, 6

	FlagControl = 1 // not counted
	FlagAckNow  = 2 // acknowledge what you have accepted, this frame too, at once
	flagsKnown  = FlagControl | FlagAckNow
)

// Header is what stands before each frame.
type Header struct {
	Size  uint32 // of head and payload
	ID    uint8
	Flags uint8
	Head  uint16
}

// Emit writes it.
func (h Header) Emit(b []byte) {
	_ = b[HeaderLen-1]
	binary.LittleEndian.PutUint32(b, h.Size)
	b[offID], b[offFlags] = h.ID, h.Flags
	binary.LittleEndian.PutUint16(b[offHead:], h.Head)
}

// ParseHeader reads one; whether it may come is Valid.
func ParseHeader(b []byte) Header {
	_ = b[HeaderLen-1]
	return Header{Size: binary.LittleEndian.Uint32(b), ID: b[offID], Flags: b[offFlags], Head: binary.LittleEndian.Uint16(b[offHead:])}
}

// Control says whether it is one that isn't counted.
func (h Header) Control() bool { return h.Flags&FlagControl != 0 }

// Len is the length of the whole frame.
func (h Header) Len() int { return HeaderLen + int(h.Size) }

// Limits is what a receiver takes.
type Limits struct {
	Frame uint32
	Data  bool // after Admit
}

// Valid says whether a header may come.
func (h Header) Valid(l Limits) bool {
	return h.Flags&^flagsKnown == 0 && uint32(h.Head) <= h.Size && h.Size <= l.Frame && h.Head <= MaxHead &&
		(l.Data || h.Control()) && h.ID != 0
}
