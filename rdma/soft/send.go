package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// segment is how many answers one READ request asks for at most: a longer READ is asked for in pieces on a fixed grid, so that the
// answers don't come all at once, and that what is asked for again never goes beyond what was asked for before.
const segment = 16

// askEvery is after how many packets an acknowledgement is asked for inside of a message.
const askEvery = 16

// transmit sends up to budget packets of what is posted. More: it stopped for no other reason than that.
func (r *requester) transmit(q *queuePair, budget int) (sent int, more bool) {
	for r.ring.Send != r.ring.PI && (q.state == rdma.RTS || q.state == rdma.SQD) && r.again.notBefore == 0 {
		w, s := r.load(q, r.ring.Send), r.slot(r.ring.Send)
		if !s.begun && !r.begin(q, w, s) {
			return sent, false
		}
		switch {
		case s.status != rdma.StatusSuccess:
			r.advance(q)
			return sent, false
		case s.n == 0:
			r.step()
			r.advance(q)
			continue
		case rdma.PSNDiff(s.first+r.off, r.una) >= r.flow.Window, w.Op.Answered() && r.reads.Count >= int(q.attr.MaxReads):
			return sent, false
		case sent >= budget || !q.d.tx.room():
			return sent, true
		}
		r.packet(q, w, s)
		sent++
	}
	return sent, false
}

// step goes on to the next work request.
func (r *requester) step() { r.ring.Send, r.off, r.valid = r.ring.After(r.ring.Send), 0, false }

// begin gives a work request its packet numbers. False: it must wait. What can't be run gets its status, and ends
// the queue pair when its turn to complete has come.
func (r *requester) begin(q *queuePair, w *ring.WQE, s *slot) bool {
	if q.state == rdma.SQD {
		return false
	}
	if w.Flags&uint8(rdma.FlagFence) != 0 && r.reads.Count > 0 {
		return false
	}
	needsRecv := w.Op.Sends() || w.Op == rdma.OpWriteImm
	if needsRecv && !q.datagram && !r.credit.Allows(r.idle()) {
		return false
	}
	s.begun, s.first = true, r.next
	if s.status = q.check(w); s.status != rdma.StatusSuccess {
		return true
	}
	messages := uint32(1)
	switch {
	case w.Op.Local():
		if !q.local(w, s) {
			s.status = rdma.StatusMWBind
			if w.Op == rdma.OpLocalInv {
				s.status = rdma.StatusLocQPOp
			}
		}
		return true
	case w.Op == rdma.OpRead:
		s.n = q.packets(w.Length)
		messages = (s.n + segment - 1) / segment
	case w.Op.Atomic(), q.datagram:
		s.n = 1
	default:
		s.n = q.packets(w.Length)
	}
	r.next = rdma.PSNAdd(r.next, int(s.n))
	r.credit.Sent = rdma.PSNAdd(r.credit.Sent, int(messages))
	return true
}

// packets is rdma.Packets for the queue pair's MTU.
func (q *queuePair) packets(length uint32) uint32 {
	if length == 0 {
		return 1
	}
	return (length + uint32(q.mtu) - 1) / uint32(q.mtu)
}

// check looks at the memory and the length of a work request.
func (q *queuePair) check(w *ring.WQE) rdma.WCStatus {
	if w.Length > maxMessage || q.datagram && int(w.Length) > q.mtu {
		return rdma.StatusLocLen
	}
	for _, s := range w.SGE[:w.NSGE] {
		if _, ok := q.pd.local(s, w.Op.Answered()); !ok {
			return rdma.StatusLocProt
		}
	}
	return rdma.StatusSuccess
}

// local executes a work request that no packet leaves for.
func (q *queuePair) local(w *ring.WQE, s *slot) bool {
	if w.Op == rdma.OpLocalInv {
		return q.d.invalidate(q, w.RKey)
	}
	return s.mw.bind(q, s.mr, w, w.Num)
}

// packet sends the next packet of a work request.
func (r *requester) packet(q *queuePair, w *ring.WQE, s *slot) {
	d := q.d
	if r.idle() {
		r.again.moved, r.again.spent = d.now, d.now
	}
	p := packet.Packet{Migrated: true, PKey: packet.DefaultPKey, DestQP: q.attr.DestQPN, PSN: rdma.PSNAdd(s.first, int(r.off))}
	route := &q.route
	took := uint32(1)
	switch {
	case q.datagram:
		p.Opcode, p.DestQP, p.QKey, p.SrcQP, p.Imm = packet.UDSendOnly, w.Num, w.QKey, q.num, w.Imm
		if w.Op == rdma.OpSendImm {
			p.Opcode = packet.UDSendOnlyImm
		}
		if w.QKey>>31 != 0 {
			p.QKey = q.attr.QKey // the highest bit means: the sender's own
		}
		p.Solicited = w.Flags&uint8(rdma.FlagSolicited) != 0
		route = &w.Route
		r.payload(q, w, 0, d.tx.add(route, &p, int(w.Length)))
	case w.Op == rdma.OpRead:
		took = min(segment-r.off%segment, s.n-r.off)
		at := r.off * uint32(q.mtu)
		p.Opcode, p.VA, p.RKey, p.AckReq = packet.ReadRequest, w.Addr+uint64(at), w.RKey, true
		p.Len = min(w.Length-at, took*uint32(q.mtu))
		r.reads.Push(rdma.PSNAdd(p.PSN, int(took)-1))
		d.tx.add(route, &p, 0)
	case w.Op.Atomic():
		p.Opcode, p.VA, p.RKey, p.Swap, p.Compare, p.AckReq = packet.CompareSwap, w.Addr, w.RKey, w.Swap, w.Compare, true
		if w.Op == rdma.OpFetchAdd {
			p.Opcode, p.Swap, p.Compare = packet.FetchAdd, w.Compare, 0
		}
		r.reads.Push(p.PSN)
		d.tx.add(route, &p, 0)
	default:
		r.part(q, w, s, &p)
	}
	d.stats.TxPackets++
	r.off += took
	if end := rdma.PSNAdd(s.first, int(r.off)); rdma.PSNDiff(end, r.high) > 0 {
		r.high = end
		if p.AckReq {
			r.rtt.Sent(end, d.now)
		}
	}
	if r.off == s.n {
		r.step()
	}
	if q.datagram {
		r.una = r.high // it has left: that is all there is to know
		r.advance(q)
		return
	}
	r.arm(q)
}

// part sends one packet of a SEND or WRITE.
func (r *requester) part(q *queuePair, w *ring.WQE, s *slot, p *packet.Packet) {
	at := r.off * uint32(q.mtu)
	first, last := r.off == 0, r.off == s.n-1
	p.Opcode = opcodeOf(w.Op, first, last)
	if first {
		p.VA, p.RKey, p.Len = w.Addr, w.RKey, w.Length
	}
	if last {
		p.Imm = w.Imm
		if w.Op == rdma.OpSendInv {
			p.Imm = w.RKey
		}
		p.Solicited = w.Flags&uint8(rdma.FlagSolicited) != 0
	}
	r.quiet++
	closes := rdma.PSNDiff(p.PSN, r.una)+1 >= r.flow.Window
	if p.AckReq = last || closes || r.quiet >= askEvery; p.AckReq {
		r.quiet = 0
	}
	n := min(w.Length-at, uint32(q.mtu))
	r.payload(q, w, at, q.d.tx.add(&q.route, p, int(n)))
}

// payload copies a part of what a work request sends.
func (r *requester) payload(q *queuePair, w *ring.WQE, at uint32, dst []byte) {
	if w.Flags&ring.FlagInline != 0 {
		copy(dst, w.Data[at:w.InlineBytes])
		return
	}
	q.pd.gather(w.SGE[:w.NSGE], at, dst)
}

// opcodeOf is the opcode of a packet of a SEND or WRITE.
func opcodeOf(op rdma.Op, first, last bool) packet.Opcode {
	row := &opcodes[op]
	switch {
	case first && last:
		return row.only
	case first:
		return row.first
	case last:
		return row.last
	}
	return row.middle
}

var opcodes = [...]struct{ first, middle, last, only packet.Opcode }{
	rdma.OpWrite:    {packet.WriteFirst, packet.WriteMiddle, packet.WriteLast, packet.WriteOnly},
	rdma.OpWriteImm: {packet.WriteFirst, packet.WriteMiddle, packet.WriteLastImm, packet.WriteOnlyImm},
	rdma.OpSend:     {packet.SendFirst, packet.SendMiddle, packet.SendLast, packet.SendOnly},
	rdma.OpSendImm:  {packet.SendFirst, packet.SendMiddle, packet.SendLastImm, packet.SendOnlyImm},
	rdma.OpSendInv:  {packet.SendFirst, packet.SendMiddle, packet.SendLastInv, packet.SendOnlyInv},
}
