package demo

import (
	"bytes"
	"errors"
	"hash/crc32"
	"time"
)

// Ids of active messages.
const (
	idKeys    uint16 = 1 // receiver to sender: where to put
	idNumber  uint16 = 2 // sender to receiver: everything with a running number
	idRelease uint16 = 3 // receiver to sender: a window may be used again
)

// What a numbered message is.
const (
	kindNote     byte = 1 // content made of its number
	kindAnnounce byte = 2 // a window of blocks has been flushed
	kindEnd      byte = 3 // totals
)

// The header of a numbered message: number (8 bytes), kind (1), checksum of both and the payload (4).
const messageHead = 13

func messageHeader(number uint64, kind byte, payload []byte) []byte {
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
	if kind == kindNote && !bytes.Equal(payload, notePayload(number)) {
		return 0, 0, false
	}
	return number, kind, true
}

// notePayload is the content of a note: 0 to 255 bytes that follow from its number.
func notePayload(number uint64) []byte {
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

// announcement is a window of blocks that a flush has covered.
type announcement struct {
	window uint64 // from 1
	first  uint64 // number of its first block
	sums   []uint32
}

var errMessage = errors.New("a message that says something impossible")

func (a announcement) encode() []byte {
	b := make([]byte, 0, 16+4*len(a.sums))
	b = le.AppendUint64(b, a.window)
	b = le.AppendUint64(b, a.first)
	for _, s := range a.sums {
		b = le.AppendUint32(b, s)
	}
	return b
}

func parseAnnouncement(b []byte) (announcement, error) {
	n := (len(b) - 16) / 4
	if len(b) < 20 || n > windowBlocks || len(b) != 16+4*n {
		return announcement{}, errMessage
	}
	a := announcement{window: le.Uint64(b), first: le.Uint64(b[8:]), sums: make([]uint32, n)}
	for i := range a.sums {
		a.sums[i] = le.Uint32(b[16+4*i:])
	}
	if a.window == 0 || a.first == 0 {
		return announcement{}, errMessage
	}
	return a, nil
}

// totals are what the sender issued, its own count; messages include the one that carries them.
type totals struct{ Blocks, Words, Messages, Bytes uint64 }

// ending is the payload of the last message: what was issued, and when lanes were cut.
type ending struct {
	totals
	cuts []time.Duration
}

func (e ending) encode() []byte {
	b := le.AppendUint64(nil, e.Blocks)
	b = le.AppendUint64(b, e.Words)
	b = le.AppendUint64(b, e.Messages)
	b = le.AppendUint64(b, e.Bytes)
	for _, at := range e.cuts {
		b = le.AppendUint64(b, uint64(at))
	}
	return b
}

func parseEnding(b []byte) (e ending, err error) {
	if len(b) < 32 || len(b)%8 != 0 {
		return e, errMessage
	}
	e.totals = totals{le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])}
	for b = b[32:]; len(b) > 0; b = b[8:] {
		e.cuts = append(e.cuts, time.Duration(le.Uint64(b)))
	}
	return e, nil
}
