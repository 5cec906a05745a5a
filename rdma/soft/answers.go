package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// answer is something that the responder has to send: an acknowledgement or refusal, the result of an atomic, or the
// packets of a READ.
type answer struct {
	kind     answerKind
	syndrome packet.Syndrome // of a refusal
	psn      uint32          // of the next packet
	msn      uint32
	orig     uint64 // atomic
	rkey     uint32 // READ: where it reads next, and how much
	va       uint64
	left     uint32
	begun    bool   // READ: the first packet has left
	first    uint32 // READ: its first packet number
	total    uint32
	start    uint64
}

type answerKind uint8

const (
	answerAck answerKind = iota
	answerNak
	answerAtomic
	answerRead
)

// answers are in the order in which they must leave.
type answers struct {
	ring  []answer
	head  int
	count int
	data  int // READs and atomics among them
}

func (a *answers) clear() { a.head, a.count, a.data = 0, 0, 0 }

func (a *answers) at(i int) *answer { return &a.ring[(a.head+i)%len(a.ring)] }

// push adds an answer; there is room, or it is one that would be sent again when it is asked for again.
func (a *answers) push(x answer) {
	if a.count == len(a.ring) {
		return
	}
	*a.at(a.count) = x
	a.count++
	if x.kind == answerAtomic || x.kind == answerRead {
		a.data++
	}
}

func (a *answers) pop() {
	if k := a.at(0).kind; k == answerAtomic || k == answerRead {
		a.data--
	}
	a.head = (a.head + 1) % len(a.ring)
	a.count--
}

// ack acknowledges everything up to psn; it replaces an acknowledgement that has not left.
func (a *answers) ack(psn, msn uint32) {
	if a.count > 0 {
		if last := a.at(a.count - 1); last.kind == answerAck {
			last.psn, last.msn = psn, msn
			return
		}
	}
	a.push(answer{kind: answerAck, psn: psn, msn: msn})
}

// again moves a READ that is under way back to a packet that was asked for again. False: there is none.
func (a *answers) again(q *queuePair, p *packet.Packet) bool {
	for i := range a.count {
		x := a.at(i)
		if x.kind != answerRead {
			continue
		}
		off := rdma.PSNDiff(p.PSN, x.first)
		if at := uint32(off) * uint32(q.mtu); off >= 0 && at < x.total && rdma.PSNDiff(x.psn, p.PSN) >= 0 {
			x.psn, x.va, x.left, x.begun = p.PSN, x.start+uint64(at), x.total-at, false
			return true
		}
	}
	return false
}

// emit sends up to budget answers. In ERR those that were given before still leave.
func (r *responder) emit(q *queuePair, budget int) (sent int, more bool) {
	a := &r.answers
	for a.count > 0 {
		if sent >= budget || !q.d.tx.room() {
			return sent, true
		}
		x := a.at(0)
		p := packet.Packet{Opcode: packet.Acknowledge, Migrated: true, PKey: packet.DefaultPKey, DestQP: q.attr.DestQPN, PSN: x.psn, MSN: x.msn}
		p.Syndrome = packet.Ack(q.rq.count)
		switch x.kind {
		case answerAck:
			r.starved = q.rq.count == 0
		case answerNak:
			p.Syndrome = x.syndrome
		case answerAtomic:
			p.Opcode, p.Orig = packet.AtomicAck, x.orig
		case answerRead:
			if !r.emitRead(q, x, &p) {
				return sent, false
			}
			sent++
			if x.left == 0 {
				a.pop()
			}
			continue
		}
		q.d.tx.add(&q.route, &p, 0)
		q.d.stats.TxPackets++
		sent++
		a.pop()
	}
	return sent, false
}

// emitRead sends one packet of a READ. False: the memory is gone, and with it the queue pair.
func (r *responder) emitRead(q *queuePair, x *answer, p *packet.Packet) bool {
	n := min(x.left, uint32(q.mtu))
	src, ok := q.d.reach(q, x.rkey, x.va, n, rdma.AccessRemoteRead)
	if !ok {
		psn, msn := x.psn, x.msn
		r.answers.clear()
		r.refuse(q, packet.NakAccess, psn, msn)
		if q.state != rdma.Err {
			q.failRecv(rdma.EventQPAccess)
		}
		q.d.wake(q)
		return false
	}
	switch last := x.left == n; {
	case !x.begun && last:
		p.Opcode = packet.ReadOnly
	case !x.begun:
		p.Opcode = packet.ReadFirst
	case last:
		p.Opcode = packet.ReadLast
	default:
		p.Opcode = packet.ReadMiddle
	}
	copy(q.d.tx.add(&q.route, p, int(n)), src)
	q.d.stats.TxPackets++
	x.begun = true
	x.psn = rdma.PSNAdd(x.psn, 1)
	x.va += uint64(n)
	x.left -= n
	return true
}
