package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// emit sends up to budget answers. In ERR those that were given before still leave.
func (r *responder) emit(q *queuePair, budget int) (sent int, more bool) {
	a := &r.answers
	for a.Count > 0 {
		if sent >= budget || !q.d.tx.room() {
			return sent, true
		}
		x := a.At(0)
		p := packet.Packet{Opcode: packet.Acknowledge, Migrated: true, PKey: packet.DefaultPKey, DestQP: q.attr.DestQPN, PSN: x.PSN, MSN: x.MSN}
		p.Syndrome = packet.Ack(q.rq.Count)
		switch x.Kind {
		case ring.Ack:
			r.starved = q.rq.Count == 0
		case ring.Nak:
			p.Syndrome = x.Syndrome
		case ring.Atomic:
			p.Opcode, p.Orig = packet.AtomicAck, x.Orig
		case ring.Read:
			src, ok := q.d.reach(q, x.RKey, x.VA, min(x.Left, uint32(q.mtu)), rdma.AccessRemoteRead)
			switch {
			case ok:
				r.emitRead(q, x, &p, src)
				sent++
			case x.Repeat: // as an old packet
				a.Pop()
				continue
			default:
				r.gone(q, x)
				return sent, false
			}
			if x.Left == 0 {
				a.Pop()
			}
			continue
		}
		q.d.tx.add(&q.route, &p, 0)
		q.d.stats.TxPackets++
		sent++
		a.Pop()
	}
	return sent, false
}

// gone: the memory of a READ is gone, and with it the queue pair.
func (r *responder) gone(q *queuePair, x *ring.Answer) {
	psn, msn := x.PSN, x.MSN
	r.answers.Clear()
	r.refuse(q, packet.NakAccess, psn, msn)
	if q.state != rdma.Err {
		q.failRecv(rdma.EventQPAccess)
	}
	q.d.wake(q)
}

// emitRead sends one packet of a READ.
func (r *responder) emitRead(q *queuePair, x *ring.Answer, p *packet.Packet, src []byte) {
	n := uint32(min(int(x.Left), q.mtu))
	switch last := x.Left == n; {
	case !x.Begun && last:
		p.Opcode = packet.ReadOnly
	case !x.Begun:
		p.Opcode = packet.ReadFirst
	case last:
		p.Opcode = packet.ReadLast
	default:
		p.Opcode = packet.ReadMiddle
	}
	load(q.d.tx.add(&q.route, p, int(n)), src)
	q.d.stats.TxPackets++
	x.Begun = true
	x.PSN = rdma.PSNAdd(x.PSN, 1)
	x.VA += uint64(n)
	x.Left -= n
}
