package ring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

const (
	// Slot is the size of one, a cache line.
	Slot = 64
	// Inline is up to how many bytes a piece stands in its slot.
	Inline = Slot - slotHeader
	// Piece is the most bytes of a piece: small enough that both sides copy at a time, large enough to be a memcpy.
	Piece = 32 << 10

	slotHeader = 16
	// lines are apart by two cache lines, since processors fetch them in pairs.
	line    = 128
	control = 2 * line

	offRead   = 0    // slots read, by the reader
	offReader = line // Doze of the reader
)

// ErrGarbage: the shared memory has something in it that no peer of ours writes.
var ErrGarbage = errors.New("not a ring that a peer of ours writes")

// Shape is the size of a ring.
type Shape struct {
	Slots int // a power of two, at least 8
	Data  int // bytes of the data ring: a multiple of Piece, at least 4 of them
}

// Check says why a shape can't be.
func (s Shape) Check() error {
	if s.Slots < 8 || s.Slots > 1<<20 || s.Slots&(s.Slots-1) != 0 {
		return fmt.Errorf("%d slots: want a power of two from 8 to %d", s.Slots, 1<<20)
	}
	if s.Data < 4*Piece || s.Data > 1<<30 || s.Data%Piece != 0 {
		return fmt.Errorf("%d bytes of data: want a multiple of %d, from %d to %d", s.Data, Piece, 4*Piece, 1<<30)
	}
	return nil
}

// Size is how many bytes of memory a ring takes.
func (s Shape) Size() int { return control + s.Slots*Slot + s.Data }

// Header is what stands in a slot beside its bytes.
type Header struct {
	ID    uint8
	Flags uint8
	Head  uint16
	Size  uint32 // of the frame, of what is left of it: this piece has the first Piece bytes of that
	Ack   uint32
}

// Len is how many bytes the piece has.
func (h Header) Len() int { return int(min(h.Size, Piece)) }

// memory is the ring's, seen as words. Everything unsafe is here.
type memory struct {
	base  unsafe.Pointer
	shape Shape
	hold  []byte // keeps it reachable
}

// over checks that mem can be a ring.
func over(mem []byte, s Shape) (memory, error) {
	if err := s.Check(); err != nil {
		return memory{}, err
	}
	if len(mem) < s.Size() {
		return memory{}, fmt.Errorf("%d bytes of memory for a ring of %d", len(mem), s.Size())
	}
	base := unsafe.Pointer(unsafe.SliceData(mem))
	if uintptr(base)%Slot != 0 {
		return memory{}, fmt.Errorf("the memory does not begin at a multiple of %d", Slot)
	}
	return memory{base: base, shape: s, hold: mem}, nil
}

func (m *memory) word32(off int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Add(m.base, off)) }
func (m *memory) word64(off int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Add(m.base, off)) }

// plain64 is a word that another one publishes.
func (m *memory) plain64(off int) *uint64 { return (*uint64)(unsafe.Add(m.base, off)) }

// slot is where one begins.
func (m *memory) slot(index uint64) int {
	return control + int(index&uint64(m.shape.Slots-1))*Slot
}

// bytes are n of them, bounded by the memory itself.
func (m *memory) bytes(off, n int) []byte { return m.hold[off : off+n : off+n] }

// place says where n bytes of a piece go, the slot's own memory apart, given where the ones before ended: a piece never wraps.
func (s Shape) place(end uint64, n int) (at, after uint64) {
	if n <= Inline {
		return end, end
	}
	size := uint64(s.Data)
	if rest := size - end%size; rest < uint64(n) {
		end += rest
	}
	return end, end + uint64((n+Slot-1)&^(Slot-1))
}

// body is the memory of a piece of n bytes.
func (m *memory) body(slot int, at uint64, n int) []byte {
	if n <= Inline {
		return m.bytes(slot+slotHeader, n)
	}
	return m.bytes(control+m.shape.Slots*Slot+int(at%uint64(m.shape.Data)), n)
}

// pack and unpack are the slot's first two words.
func pack(h Header, sequence uint32) (first, second uint64) {
	return uint64(sequence) | uint64(h.ID)<<32 | uint64(h.Flags)<<40 | uint64(h.Head)<<48, uint64(h.Size) | uint64(h.Ack)<<32
}

func unpack(first, second uint64) Header {
	return Header{ID: uint8(first >> 32), Flags: uint8(first >> 40), Head: uint16(first >> 48), Size: uint32(second), Ack: uint32(second >> 32)}
}
