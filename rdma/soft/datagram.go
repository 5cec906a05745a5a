package soft

import (
	"encoding/binary"
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// datagramIn takes a datagram: it goes into a receive, or is lost.
func (q *queuePair) datagramIn(from netip.AddrPort, p *packet.Packet) {
	d := q.d
	if p.QKey != q.attr.QKey {
		d.stats.WrongQKey++
		return
	}
	if q.rq.Count == 0 {
		d.stats.NoRecv++
		return
	}
	_, sges := q.rq.First()
	room := 0
	for _, s := range sges {
		room += int(s.Length)
	}
	if room < rdma.GRHBytes+len(p.Payload) {
		d.stats.NoRecv++
		return
	}
	var grh [rdma.GRHBytes]byte
	networkHeader(&grh, from, d.c.Local(), len(p.Payload))
	st := q.pd.scatter(sges, 0, grh[:])
	if st == rdma.StatusSuccess {
		st = q.pd.scatter(sges, rdma.GRHBytes, p.Payload)
	}
	wc := rdma.WC{
		Status: st, Op: rdma.WCRecv, Flags: rdma.WCHasGRH, Length: uint32(rdma.GRHBytes + len(p.Payload)),
		SrcQPN: p.SrcQP, SrcGID: rdma.GIDFrom(from.Addr()), SrcPort: from.Port(),
	}
	if p.Opcode == packet.UDSendOnlyImm {
		wc.Flags |= rdma.WCHasImm
		wc.Imm = p.Imm
	}
	q.received(wc)
}

// networkHeader makes up the header that a datagram came with, as far as a socket shows it.
func networkHeader(b *[rdma.GRHBytes]byte, from, to netip.AddrPort, payload int) {
	be := binary.BigEndian
	size := 8 + packet.UDSendOnly.Len(payload)
	if to.Addr().Is4() {
		ip := b[20:]
		src, dst := from.Addr().As4(), to.Addr().As4()
		ip[0], ip[8], ip[9] = 0x45, 64, 17
		be.PutUint16(ip[2:], uint16(20+size))
		copy(ip[12:], src[:])
		copy(ip[16:], dst[:])
		return
	}
	src, dst := from.Addr().As16(), to.Addr().As16()
	b[0], b[6], b[7] = 0x60, 17, 64
	be.PutUint16(b[4:], uint16(size))
	copy(b[8:], src[:])
	copy(b[24:], dst[:])
}
