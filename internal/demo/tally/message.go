package tally

import (
	"bytes"
	"errors"
	"hash/crc32"
	"time"
)

// Ids of active messages.
const (
	IDKeys    uint16 = 1 // receiver to sender: where to put
	IDNumber  uint16 = 2 // sender to receiver: everything with a running number
	IDRelease uint16 = 3 // receiver to sender: a window may be used again
)

// What a numbered message is.
const (
	KindNote     byte = 1 // content made of its number
	KindAnnounce byte = 2 // a window of blocks has been flushed
	KindEnd      byte = 3 // totals
)

const messageHead = 13

// MessageHeader is the header of a numbered message: number (8 bytes), kind (1), checksum of both and the payload (4).
func MessageHeader(number uint64, kind byte, payload []byte) []byte {
	h := make([]byte, messageHead)
	le.PutUint64(h, number)
	h[8] = kind
	le.PutUint32(h[9:], messageSum(h, payload))
	return h
}

func messageSum(head, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum(head[:9], castagnoli), castagnoli, payload)
}

// parseMessage reads a header. Only a number that can be trusted is returned: one whose checksum holds.
func parseMessage(head, payload []byte) (number uint64, kind byte, ok bool) {
	if len(head) != messageHead || le.Uint32(head[9:]) != messageSum(head, payload) {
		return 0, 0, false
	}
	number, kind = le.Uint64(head), head[8]
	if kind == KindNote && !bytes.Equal(payload, NotePayload(number)) {
		return 0, 0, false
	}
	return number, kind, true
}

// NotePayload is the content of a note: 0 to 255 bytes that follow from its number.
func NotePayload(number uint64) []byte {
	r := mix(number)
	p := make([]byte, r&255)
	for i := range p {
		if i&7 == 0 {
			r = mix(r)
		}
		p[i] = byte(r >> (8 * (i & 7)))
	}
	return p
}

// mix is one step of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Announcement is a window of blocks that a flush has covered.
type Announcement struct {
	Window uint64   // from 1
	First  uint64   // number of its first block
	Sums   []uint32 // checksum of each
}

var errMessage = errors.New("a message that says something impossible")

// Encode makes it a payload.
func (a Announcement) Encode() []byte {
	b := make([]byte, 0, 16+4*len(a.Sums))
	b = le.AppendUint64(b, a.Window)
	b = le.AppendUint64(b, a.First)
	for _, s := range a.Sums {
		b = le.AppendUint32(b, s)
	}
	return b
}

// ParseAnnouncement reads what Encode made.
func ParseAnnouncement(b []byte) (Announcement, error) {
	n := (len(b) - 16) / 4
	if len(b) < 20 || n > WindowBlocks || len(b) != 16+4*n {
		return Announcement{}, errMessage
	}
	a := Announcement{Window: le.Uint64(b), First: le.Uint64(b[8:]), Sums: make([]uint32, n)}
	for i := range a.Sums {
		a.Sums[i] = le.Uint32(b[16+4*i:])
	}
	if a.Window == 0 || a.First == 0 {
		return Announcement{}, errMessage
	}
	return a, nil
}

// Totals are what the sender issued, by its own count; messages include the one that carries them.
type Totals struct{ Blocks, Words, Messages, Bytes uint64 }

// Ending is the last message: what was issued, and when lanes were cut.
type Ending struct {
	Totals
	Cuts []time.Duration
}

// Encode makes it a payload.
func (e Ending) Encode() []byte {
	b := le.AppendUint64(nil, e.Blocks)
	b = le.AppendUint64(b, e.Words)
	b = le.AppendUint64(b, e.Messages)
	b = le.AppendUint64(b, e.Bytes)
	for _, at := range e.Cuts {
		b = le.AppendUint64(b, uint64(at))
	}
	return b
}

// ParseEnding reads what Encode made.
func ParseEnding(b []byte) (e Ending, err error) {
	if len(b) < 32 || len(b)%8 != 0 {
		return e, errMessage
	}
	e.Totals = Totals{le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
	for b = b[32:]; len(b) > 0; b = b[8:] {
		e.Cuts = append(e.Cuts, time.Duration(le.Uint64(b)))
	}
	return e, nil
}

// Release is the payload that gives a window back.
func Release(window uint64) []byte { return le.AppendUint64(nil, window) }

// ParseRelease reads it; 0 is none.
func ParseRelease(b []byte) (window uint64) {
	if len(b) == 8 {
		window = le.Uint64(b)
	}
	return window
}
