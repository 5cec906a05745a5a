package soft

import (
	"sync/atomic"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// responder is the half of a queue pair that executes what the peer sends.
type responder struct {
	epsn    uint32 // the packet number that is expected: the position
	msn     uint32 // messages that are done
	nakked  bool   // a refusal is out, until the expected packet comes
	beyond  uint32 // with nakked: the last packet that came too early
	starved bool   // the peer was told that there is no receive
	heard   bool
	msg     message
	answers ring.Answers
	results ring.Results
}

// message is one of several packets that has begun.
type message struct {
	kind packet.Has // IsSend or IsWrite; 0: none
	rkey uint32
	va   uint64
	off  uint32 // bytes that are there
	len  uint32 // of a WRITE
}

// open makes room for so many READs and atomics at a time, keeping what there is.
func (r *responder) open(reads int) {
	r.answers.Grow(reads)
	r.results.Grow(reads)
}

// request takes a packet of the peer.
func (r *responder) request(q *queuePair, p *packet.Packet) {
	if !r.heard {
		r.heard = true
		if q.state == rdma.RTR {
			q.d.event(rdma.Event{Type: rdma.EventEstablished, QP: q})
		}
	}
	switch diff := rdma.PSNDiff(p.PSN, r.epsn); {
	case diff < 0:
		r.repeated(q, p)
		return
	case diff > 0:
		q.d.stats.OutOfOrder++
		// One refusal for a gap, and one more when somebody asks who sends again: the first was lost.
		if !r.nakked || p.AckReq && rdma.PSNDiff(p.PSN, r.beyond) <= 0 {
			r.nakked = true
			r.refuse(q, packet.NakSequence, r.epsn, r.msn)
			r.beyond = p.PSN
		} else if rdma.PSNDiff(p.PSN, r.beyond) > 0 {
			r.beyond = p.PSN
		}
		return
	}
	h := p.Opcode.Has()
	if h&(packet.IsSend|packet.IsWrite) == 0 && r.answers.Data >= int(q.attr.MaxDestReads) {
		// More than was agreed, or others that were asked for again are still to be answered: as if it had been lost.
		q.d.stats.Crowded++
		return
	}
	r.nakked = false
	switch {
	case h&(packet.IsSend|packet.IsWrite) != 0:
		r.payload(q, p, h)
	case p.Opcode == packet.ReadRequest:
		r.read(q, p)
	default:
		r.atomic(q, p)
	}
}

// refuse queues a NAK or RNR.
func (r *responder) refuse(q *queuePair, s packet.Syndrome, psn, msn uint32) {
	if s.IsRNR() {
		q.d.stats.RNRsSent++
	} else {
		q.d.stats.NaksSent++
	}
	r.answers.Push(ring.Answer{Kind: ring.Nak, Syndrome: s, PSN: psn, MSN: msn})
}

// invalid refuses a request for good: the queue pair ends.
func (r *responder) invalid(q *queuePair, p *packet.Packet, s packet.Syndrome) {
	r.refuse(q, s, p.PSN, r.msn)
	e := rdma.EventQPRequest
	if s == packet.NakAccess {
		e = rdma.EventQPAccess
	}
	q.failRecv(e)
}

// fits says whether a packet of a SEND or WRITE comes where it may, and is as long as it may be.
func (r *responder) fits(q *queuePair, p *packet.Packet, h packet.Has) bool {
	n := len(p.Payload)
	kind := h & (packet.IsSend | packet.IsWrite)
	switch {
	case h&packet.First != 0:
		return r.msg.kind == 0 && n == q.mtu
	case h&packet.Only != 0:
		return r.msg.kind == 0 && n <= q.mtu
	case h&packet.Middle != 0:
		return r.msg.kind == kind && n == q.mtu
	}
	return r.msg.kind == kind && n > 0 && n <= q.mtu
}

// payload executes a packet of a SEND or WRITE.
func (r *responder) payload(q *queuePair, p *packet.Packet, h packet.Has) {
	if !r.fits(q, p, h) {
		r.invalid(q, p, packet.NakRequest)
		return
	}
	begins, ends := h&(packet.First|packet.Only) != 0, h&(packet.Last|packet.Only) != 0
	if needs := h&packet.IsSend != 0 && begins || h&packet.IsWrite != 0 && h&packet.HasImm != 0; needs && q.rq.Count == 0 {
		r.nakked, r.starved, r.beyond = true, true, r.epsn
		r.refuse(q, packet.RNR(q.attr.MinRNRTimer), p.PSN, r.msn)
		return
	}
	if begins {
		r.msg = message{kind: h & (packet.IsSend | packet.IsWrite), rkey: p.RKey, va: p.VA, len: p.Len}
	}
	if h&packet.IsSend != 0 {
		if !r.send(q, p, h) {
			return
		}
	} else if !r.write(q, p, ends) {
		return
	}
	r.msg.off += uint32(len(p.Payload))
	r.epsn = rdma.PSNAdd(r.epsn, 1)
	if ends {
		r.msn = rdma.PSNAdd(r.msn, 1)
		r.ended(q, p, h)
		r.msg = message{}
	}
	if p.AckReq && q.state != rdma.Err {
		r.answers.Acknowledge(p.PSN, r.msn)
	}
}

// send puts a packet of a SEND into the first receive.
func (r *responder) send(q *queuePair, p *packet.Packet, h packet.Has) bool {
	_, sges := q.rq.First()
	st := q.pd.scatter(sges, r.msg.off, p.Payload)
	if st == rdma.StatusSuccess && h&packet.HasInv != 0 && !q.d.invalidate(q, p.Imm) {
		r.invalid(q, p, packet.NakAccess)
		return false
	}
	switch {
	case st == rdma.StatusSuccess:
		return true
	case st == rdma.StatusLocLen:
		q.received(rdma.WC{Status: st})
		r.invalid(q, p, packet.NakRequest)
	default:
		q.received(rdma.WC{Status: st})
		r.invalid(q, p, packet.NakOperation)
	}
	return false
}

// write puts a packet of a WRITE into its memory. Key, rights and bounds of the whole are looked at with each packet, since
// they can be revoked in between.
func (r *responder) write(q *queuePair, p *packet.Packet, ends bool) bool {
	m := &r.msg
	n := uint32(len(p.Payload))
	if left := m.len - m.off; n > left || ends != (n == left) {
		r.invalid(q, p, packet.NakRequest)
		return false
	}
	dst, ok := q.d.reach(q, m.rkey, m.va, m.len, rdma.AccessRemoteWrite)
	if !ok {
		r.invalid(q, p, packet.NakAccess)
		return false
	}
	if n > 0 {
		store(dst[m.off:m.off+n], p.Payload)
	}
	return true
}

// ended completes a receive, if the message that ended used one.
func (r *responder) ended(q *queuePair, p *packet.Packet, h packet.Has) {
	wc := rdma.WC{Op: rdma.WCRecv, Length: r.msg.off, SrcQPN: q.attr.DestQPN}
	switch {
	case h&packet.HasInv != 0:
		wc.Flags, wc.InvRKey = rdma.WCHasInv, p.Imm
	case h&packet.HasImm != 0:
		wc.Flags, wc.Imm = rdma.WCHasImm, p.Imm
	}
	if h&packet.IsWrite != 0 {
		if h&packet.HasImm == 0 {
			return
		}
		wc.Op = rdma.WCRecvWriteImm
	}
	q.received(wc)
}

// read queues the answers to a READ.
func (r *responder) read(q *queuePair, p *packet.Packet) {
	switch _, ok := q.d.reach(q, p.RKey, p.VA, p.Len, rdma.AccessRemoteRead); {
	case r.msg.kind != 0 || p.Len > maxMessage:
		r.invalid(q, p, packet.NakRequest)
		return
	case !ok:
		r.invalid(q, p, packet.NakAccess)
		return
	}
	r.msn = rdma.PSNAdd(r.msn, 1)
	r.epsn = rdma.PSNAdd(r.epsn, int(q.packets(p.Len)))
	r.queueRead(p, false)
}

func (r *responder) queueRead(p *packet.Packet, repeat bool) {
	r.answers.Push(ring.Answer{Kind: ring.Read, PSN: p.PSN, MSN: r.msn, RKey: p.RKey, VA: p.VA, Left: p.Len,
		First: p.PSN, Total: p.Len, Start: p.VA, Repeat: repeat})
}

// atomic executes an atomic and keeps its result.
func (r *responder) atomic(q *queuePair, p *packet.Packet) {
	b, ok := q.d.reach(q, p.RKey, p.VA, 8, rdma.AccessRemoteAtomic)
	switch {
	case r.msg.kind != 0 || p.VA&7 != 0:
		r.invalid(q, p, packet.NakRequest)
		return
	case !ok:
		r.invalid(q, p, packet.NakAccess)
		return
	}
	orig := apply(word(b), p)
	r.results.Keep(p.PSN, orig)
	r.epsn = rdma.PSNAdd(r.epsn, 1)
	r.msn = rdma.PSNAdd(r.msn, 1)
	r.answers.Push(ring.Answer{Kind: ring.Atomic, PSN: p.PSN, MSN: r.msn, Orig: orig})
}

// apply carries an atomic out, atomically towards the processors of this machine.
func apply(w *uint64, p *packet.Packet) uint64 {
	if p.Opcode == packet.FetchAdd {
		return atomic.AddUint64(w, p.Swap) - p.Swap
	}
	for {
		old := atomic.LoadUint64(w)
		if old != p.Compare || atomic.CompareAndSwapUint64(w, old, p.Swap) {
			return old
		}
	}
}

// repeated takes a packet that was executed before.
func (r *responder) repeated(q *queuePair, p *packet.Packet) {
	q.d.stats.Duplicates++
	switch {
	case p.Opcode == packet.ReadRequest:
		// Only what was read before may be read again: beyond it the position has not come. What can't be read any more was most likely
		// read: its key was closed since, and this packet is an old one. A peer that does lack it will have to give up.
		end := rdma.PSNAdd(p.PSN, int(q.packets(p.Len)))
		_, ok := q.d.reach(q, p.RKey, p.VA, p.Len, rdma.AccessRemoteRead)
		switch {
		case p.Len > maxMessage || rdma.PSNDiff(end, r.epsn) > 0 || !ok || r.answers.Again(p, q.mtu):
		case r.answers.Data < int(q.attr.MaxDestReads):
			r.queueRead(p, true)
		}
	case p.Opcode == packet.CompareSwap || p.Opcode == packet.FetchAdd:
		if orig, ok := r.results.Find(p.PSN); ok && r.answers.Data < int(q.attr.MaxDestReads) {
			r.answers.Push(ring.Answer{Kind: ring.Atomic, PSN: p.PSN, MSN: r.msn, Orig: orig})
		}
	case p.AckReq:
		r.answers.Acknowledge(rdma.PSNAdd(r.epsn, -1), r.msn)
	}
}

// fed tells a peer that was told that there is no receive that there is one now.
func (r *responder) fed(q *queuePair) {
	if r.starved && q.state.Responds() && !q.datagram {
		r.starved = false
		r.answers.Acknowledge(rdma.PSNAdd(r.epsn, -1), r.msn)
		q.d.now = q.d.cfg.Now()
		q.d.run(q)
	}
}
