package ring

import (
	"encoding/binary"
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
)

// What one work request takes at most.
const (
	MaxWRBlocks = 4
	MaxSGE      = 8
	MaxInline   = 160
)

// Ring is a send ring: blocks of 64 bytes, named by free-running 16-bit indices.
// The owner moves the indices as the package's picture says.
type Ring struct {
	blocks [][rdma.BlockBytes]byte // a power of two of them
	limit  uint16                  // blocks that may be taken
	PI     uint16
	Send   uint16
	Head   uint16
	Freed  uint16
}

// Open makes room for limit blocks; first is the index of the first one.
func (r *Ring) Open(limit int, first uint16) {
	n := 1
	for n < limit+MaxWRBlocks {
		n *= 2
	}
	r.blocks, r.limit = make([][rdma.BlockBytes]byte, n), uint16(limit)
	r.PI, r.Send, r.Head, r.Freed = first, first, first, first
}

// Blocks is how many there are: a power of two.
func (r *Ring) Blocks() int { return len(r.blocks) }

// At is the slot of an index.
func (r *Ring) At(i uint16) int { return int(i) & (len(r.blocks) - 1) }

// Room is how many blocks may be taken.
func (r *Ring) Room() int { return int(r.limit - (r.PI - r.Freed)) }

// Empty says whether everything is done.
func (r *Ring) Empty() bool { return r.Head == r.PI }

// After is the index behind the work request at i.
func (r *Ring) After(i uint16) uint16 { return i + uint16(r.blocks[r.At(i)][2]) }

// OpAt is the operation of the work request at i.
func (r *Ring) OpAt(i uint16) rdma.Op { return rdma.Op(r.blocks[r.At(i)][0]) }

// WQE is a work request as it stands in the ring.
//
//	0 op │1 flags │2 blocks │3 SGEs │4 inline bytes │8 id │16 length │20 imm │24 rkey │28 qp or key │32 remote address │
//	40 compare or length │48 swap │ … or route of a datagram … │ SGEs of 16 bytes, or inline data
type WQE struct {
	Op          rdma.Op
	Flags       uint8
	Blocks      uint8
	NSGE        uint8
	InlineBytes uint16
	Length      uint32
	ID          uint64
	Imm         uint32
	RKey        uint32
	Num         uint32 // datagram: queue pair; bind: the new key
	Addr        uint64
	Compare     uint64
	Swap        uint64
	BindLength  uint64 // bind
	Access      rdma.Access
	QKey        uint32
	Route       carrier.Route
	SGE         [MaxSGE]rdma.SGE
	Data        [MaxInline]byte
}

// FlagInline stands beside rdma.SendFlags.
const FlagInline = 0x80

// body is where SGEs or inline data begin.
func body(op rdma.Op, datagram bool) int {
	switch {
	case datagram:
		return 72
	case op.Atomic(), op == rdma.OpBindMW:
		return 56
	}
	return 40
}

// Blocks is how many blocks a work request takes.
func Blocks(op rdma.Op, datagram bool, sges, inline int) int {
	return (body(op, datagram) + 16*sges + inline + rdma.BlockBytes - 1) / rdma.BlockBytes
}

// Put writes w at pi and moves pi behind it: that is the doorbell's half, the other is to run the ring.
func (r *Ring) Put(w *WQE, datagram bool) {
	var b [MaxWRBlocks * rdma.BlockBytes]byte
	le := binary.LittleEndian
	b[0], b[1], b[2], b[3] = byte(w.Op), w.Flags, w.Blocks, w.NSGE
	le.PutUint16(b[4:], w.InlineBytes)
	le.PutUint64(b[8:], w.ID)
	le.PutUint32(b[16:], w.Length)
	le.PutUint32(b[20:], w.Imm)
	le.PutUint32(b[24:], w.RKey)
	le.PutUint32(b[28:], w.Num)
	le.PutUint64(b[32:], w.Addr)
	switch {
	case datagram:
		a := w.Route.To.Addr().As16()
		copy(b[32:48], a[:])
		le.PutUint16(b[48:], w.Route.To.Port())
		copy(b[50:56], w.Route.MAC[:])
		b[56], b[57] = w.Route.TrafficClass, w.Route.HopLimit
		le.PutUint32(b[60:], w.QKey)
	case w.Op == rdma.OpBindMW:
		le.PutUint64(b[40:], w.BindLength)
		b[48] = byte(w.Access)
	case w.Op.Atomic():
		le.PutUint64(b[40:], w.Compare)
		le.PutUint64(b[48:], w.Swap)
	}
	at := body(w.Op, datagram)
	copy(b[at:], w.Data[:w.InlineBytes])
	for _, s := range w.SGE[:w.NSGE] {
		le.PutUint64(b[at:], s.Addr)
		le.PutUint32(b[at+8:], s.Length)
		le.PutUint32(b[at+12:], s.LKey)
		at += 16
	}
	for i := range int(w.Blocks) {
		copy(r.blocks[r.At(r.PI+uint16(i))][:], b[i*rdma.BlockBytes:])
	}
	r.PI += uint16(w.Blocks)
}

// Get reads the work request at i.
func (r *Ring) Get(i uint16, w *WQE, datagram bool) {
	var b [MaxWRBlocks * rdma.BlockBytes]byte
	blocks := int(r.blocks[r.At(i)][2])
	for k := range blocks {
		copy(b[k*rdma.BlockBytes:], r.blocks[r.At(i+uint16(k))][:])
	}
	le := binary.LittleEndian
	w.Op, w.Flags, w.Blocks, w.NSGE = rdma.Op(b[0]), b[1], b[2], b[3]
	w.InlineBytes = le.Uint16(b[4:])
	w.ID, w.Length, w.Imm = le.Uint64(b[8:]), le.Uint32(b[16:]), le.Uint32(b[20:])
	w.RKey, w.Num, w.Addr = le.Uint32(b[24:]), le.Uint32(b[28:]), le.Uint64(b[32:])
	switch {
	case datagram: // the route stands where the address does otherwise
		w.Addr = 0
		a := netip.AddrFrom16([16]byte(b[32:48])).Unmap()
		w.Route = carrier.Route{To: netip.AddrPortFrom(a, le.Uint16(b[48:])), MAC: rdma.MAC(b[50:56]), TrafficClass: b[56], HopLimit: b[57]}
		w.QKey = le.Uint32(b[60:])
	case w.Op == rdma.OpBindMW:
		w.BindLength, w.Access = le.Uint64(b[40:]), rdma.Access(b[48])
	case w.Op.Atomic():
		w.Compare, w.Swap = le.Uint64(b[40:]), le.Uint64(b[48:])
	}
	at := body(w.Op, datagram)
	copy(w.Data[:w.InlineBytes], b[at:])
	for k := range w.SGE[:w.NSGE] {
		w.SGE[k] = rdma.SGE{Addr: le.Uint64(b[at:]), Length: le.Uint32(b[at+8:]), LKey: le.Uint32(b[at+12:])}
		at += 16
	}
}
