package demo

import (
	"encoding/binary"
	"hash/crc32"
)

// A block in its slot: number (8 bytes), length (4), checksum of everything else (4), data.
// Number 0 is no block: the mark that the receiver leaves where it took one.
const (
	blockHead = 16
	maxData   = 64 << 10
	// slotBytes keeps slots apart by whole cache lines.
	slotBytes = maxData + 64

	windowBlocks = 16 // that one flush covers and one message announces
	windows      = 32 // of the ring
	slots        = windowBlocks * windows
	ringBytes    = slots * slotBytes
	wordsBytes   = slots * 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var le = binary.LittleEndian

// slotOf is where the block, and the word, with a number goes. Numbers start at 1.
func slotOf(number uint64) int { return int((number - 1) % slots) }

// slot is the bytes of one slot of the ring.
func slot(ring []byte, i int) []byte { return ring[i*slotBytes : (i+1)*slotBytes : (i+1)*slotBytes] }

// sealBlock puts the head in front of n bytes of data, and returns the checksum.
func sealBlock(b []byte, number uint64, n int) uint32 {
	le.PutUint64(b, number)
	le.PutUint32(b[8:], uint32(n))
	sum := blockSum(b, n)
	le.PutUint32(b[12:], sum)
	return sum
}

func blockSum(b []byte, n int) uint32 {
	sum := crc32.Update(0, castagnoli, b[:12])
	return crc32.Update(sum, castagnoli, b[blockHead:blockHead+n])
}

// blockNumber is the number that stands in a slot.
func blockNumber(b []byte) uint64 { return le.Uint64(b) }

// openBlock returns the data of a slot if it is what was announced.
func openBlock(b []byte, number uint64, sum uint32) (data []byte, ok bool) {
	n := int(le.Uint32(b[8:]))
	if blockNumber(b) != number || n > maxData || le.Uint32(b[12:]) != sum || blockSum(b, n) != sum {
		return nil, false
	}
	return b[blockHead : blockHead+n], true
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
