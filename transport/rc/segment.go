package rc

import "encoding/binary"

// A segment is one SEND: this header, then frames or a part of one. Little-endian.
//
//	 0      1       2          4         8
//	| kind | flags | reserved | granted | acknowledgement |
const (
	segmentLen = 16

	offSegFlags, offGranted, offSegAck = 1, 4, 8
)

// kind is what follows the header of a segment.
type kind uint8

const (
	nothing kind = iota // the header is all
	frames              // whole frames
	first               // a frame that goes on in further segments: its header, head, and the begin of its payload
	more                // more of its payload; the last one ends it
	kinds
)

const (
	segAckNow  = 1 // acknowledge at once what you have accepted, with this segment
	segControl = 2 // of first and more: a part of the control frame that is under way, not of the data frame
	segKnown   = segAckNow | segControl
)

// segment is the header of a segment.
type segment struct {
	kind    kind
	flags   uint8
	granted uint32 // receives posted for the peer so far
	ack     uint64 // data frames accepted so far
}

func (s segment) emit(b []byte) {
	_ = b[segmentLen-1]
	b[0], b[offSegFlags] = uint8(s.kind), s.flags
	b[2], b[3] = 0, 0
	binary.LittleEndian.PutUint32(b[offGranted:], s.granted)
	binary.LittleEndian.PutUint64(b[offSegAck:], s.ack)
}

func parseSegment(b []byte) segment {
	_ = b[segmentLen-1]
	return segment{
		kind: kind(b[0]), flags: b[offSegFlags],
		granted: binary.LittleEndian.Uint32(b[offGranted:]), ack: binary.LittleEndian.Uint64(b[offSegAck:]),
	}
}

// A frame within a segment: this header, then head, then payload.
//
//	 0      4    5       6
//	| size | id | flags | head |
const (
	headerLen = 8

	offID, offFlags, offHead = 4, 5, 6

	flagControl = 1 // not counted
	flagAckNow  = 2 // acknowledge what you have accepted, this frame too, at once
	flagsKnown  = flagControl | flagAckNow
)

// header is what stands before each frame.
type header struct {
	size  uint32 // of head and payload
	id    uint8
	flags uint8
	head  uint16
}

func (h header) emit(b []byte) {
	_ = b[headerLen-1]
	binary.LittleEndian.PutUint32(b, h.size)
	b[offID], b[offFlags] = h.id, h.flags
	binary.LittleEndian.PutUint16(b[offHead:], h.head)
}

func parseHeader(b []byte) header {
	_ = b[headerLen-1]
	return header{size: binary.LittleEndian.Uint32(b), id: b[offID], flags: b[offFlags], head: binary.LittleEndian.Uint16(b[offHead:])}
}

func (h header) control() bool { return h.flags&flagControl != 0 }

// len is the length of the whole frame.
func (h header) len() int { return headerLen + int(h.size) }

// limits is what a receiver takes.
type limits struct {
	frame uint32
	data  bool // after Admit
}

// valid says whether a header may come.
func (h header) valid(l limits) bool {
	return h.flags&^flagsKnown == 0 && uint32(h.head) <= h.size && h.size <= l.frame && h.head <= maxHead &&
		(l.data || h.control()) && h.id != 0
}
