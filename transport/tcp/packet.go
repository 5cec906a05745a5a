package tcp

import "encoding/binary"

// A frame on the wire: this header, then head, then payload. Little-endian.
//
//	 0      4    5       6      8                16
//	| size | id | flags | head | acknowledgement |
const (
	headerLen = 16

	offID, offFlags, offHead, offAck = 4, 5, 6, 8

	flagControl = 1 // not counted
	flagAckNow  = 2 // acknowledge what you have accepted, this frame too, at once
	flagsKnown  = flagControl | flagAckNow
)

// header is what stands before each frame.
type header struct {
	size  uint32 // of head and payload
	id    uint8  // 0: no frame, only an acknowledgement
	flags uint8
	head  uint16
	ack   uint64 // data frames accepted so far in the other direction; 0 says nothing
}

func (h header) emit(b []byte) {
	_ = b[headerLen-1]
	binary.LittleEndian.PutUint32(b, h.size)
	b[offID], b[offFlags] = h.id, h.flags
	binary.LittleEndian.PutUint16(b[offHead:], h.head)
	binary.LittleEndian.PutUint64(b[offAck:], h.ack)
}

func parseHeader(b []byte) header {
	_ = b[headerLen-1]
	return header{
		size: binary.LittleEndian.Uint32(b), id: b[offID], flags: b[offFlags],
		head: binary.LittleEndian.Uint16(b[offHead:]), ack: binary.LittleEndian.Uint64(b[offAck:]),
	}
}

// stamp writes an acknowledgement into a header that is already encoded.
func stamp(b []byte, ack uint64) { binary.LittleEndian.PutUint64(b[offAck:], ack) }

func (h header) control() bool { return h.flags&flagControl != 0 }

// len is the length of the whole frame.
func (h header) len() int { return headerLen + int(h.size) }

// limits is what a receiver takes.
type limits struct {
	frame uint32
	data  bool // after Admit
}

// valid says whether a header may come, in one go because it is asked for each frame; strange says why not.
func (h header) valid(l limits) bool {
	return h.flags&^flagsKnown == 0 && uint32(h.head) <= h.size && h.size <= l.frame && h.head <= maxHead &&
		(l.data || h.control()) && (h.id != 0 || h.size == 0 && h.control())
}
