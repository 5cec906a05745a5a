package tally

import (
	"encoding/binary"
	"hash/crc32"
)

// A block in its slot: number (8 bytes), length (4), checksum of everything else (4), data.
// Number 0 is no block: the mark that the receiver leaves where it took one.
const (
	BlockHead = 16
	MaxData   = 64 << 10 // bytes of data in a block
	// slotStride keeps slots apart by whole cache lines.
	slotStride = MaxData + 64

	WindowBlocks = 16                     // blocks that one flush covers and one message announces, at most
	Windows      = 32                     // that may be under way
	Slots        = WindowBlocks * Windows // of the ring, and words
	RingBytes    = Slots * slotStride
	WordsBytes   = Slots * wordSize

	wordSize = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var le = binary.LittleEndian

// SlotOf is where the block, and the word, with a number goes. Numbers start at 1.
func SlotOf(number uint64) int { return int((number - 1) % Slots) }

// SlotOffset is where a slot begins in the ring.
func SlotOffset(i int) int { return i * slotStride }

// WordOffset is where a word begins.
func WordOffset(i int) int { return i * wordSize }

// Slot is the bytes of one slot of the ring.
func Slot(ring []byte, i int) []byte { return ring[SlotOffset(i):SlotOffset(i+1):SlotOffset(i+1)] }

// SealWord makes a word of the number of an operation.
func SealWord(w []byte, number uint64) { le.PutUint64(w, number) }

// SealBlock puts the head in front of n bytes of data, and returns the checksum.
func SealBlock(b []byte, number uint64, n int) uint32 {
	le.PutUint64(b, number)
	le.PutUint32(b[8:], uint32(n))
	sum := blockSum(b, n)
	le.PutUint32(b[12:], sum)
	return sum
}

func blockSum(b []byte, n int) uint32 {
	sum := crc32.Update(0, castagnoli, b[:12])
	return crc32.Update(sum, castagnoli, b[BlockHead:BlockHead+n])
}

// blockNumber is the number that stands in a slot.
func blockNumber(b []byte) uint64 { return le.Uint64(b) }

// openBlock returns the data of a slot if it is what was announced.
func openBlock(b []byte, number uint64, sum uint32) (data []byte, ok bool) {
	n := int(le.Uint32(b[8:]))
	if blockNumber(b) != number || n > MaxData || le.Uint32(b[12:]) != sum || blockSum(b, n) != sum {
		return nil, false
	}
	return b[BlockHead : BlockHead+n], true
}

// takeBlock leaves the mark: from now on the slot is only watched.
func takeBlock(b []byte) { le.PutUint64(b, 0) }

// untouched says whether a slot is still as takeBlock left it.
func untouched(b []byte, number uint64, sum uint32) bool {
	if blockNumber(b) != 0 {
		return false
	}
	le.PutUint64(b, number)
	_, ok := openBlock(b, number, sum)
	takeBlock(b)
	return ok
}
