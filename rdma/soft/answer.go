package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// answered takes what the responder sent.
func (r *requester) answered(q *queuePair, p *packet.Packet) {
	d := q.d
	if q.state != rdma.RTS && q.state != rdma.SQD {
		d.stats.WrongState++
		return
	}
	if rdma.PSNDiff(p.PSN, r.high) >= 0 {
		d.stats.BadAnswers++ // it was never asked
		return
	}
	h := p.Opcode.Has()
	if h&packet.HasAETH != 0 && p.Syndrome.IsAck() && rdma.PSNDiff(p.PSN, r.una) >= -1 {
		r.credit.Granted(p.MSN, p.Syndrome.Credits())
	}
	switch {
	case p.Opcode != packet.Acknowledge:
		r.data(q, p)
	case p.Syndrome.IsAck():
		r.acked(q, rdma.PSNAdd(p.PSN, 1))
	case p.Syndrome.IsRNR():
		d.stats.RNRsTaken++
		r.notReady(q, p)
	case p.Syndrome.IsNak():
		d.stats.NaksTaken++
		r.refused(q, p)
	default:
		d.stats.BadAnswers++
	}
	d.wake(q)
}

// acked takes an acknowledgement of everything before to. What is answered by data is not done by it: if such
// an answer should have come before, it was lost.
func (r *requester) acked(q *queuePair, to uint32) {
	if rdma.PSNDiff(to, r.una) <= 0 {
		return
	}
	lost := false
	for i := r.ring.Head; i != r.ring.PI; i = r.ring.After(i) {
		s := r.slot(i)
		if !s.begun || rdma.PSNDiff(s.first, to) >= 0 {
			break
		}
		if r.ring.OpAt(i).Answered() && rdma.PSNDiff(s.first+s.n, r.una) > 0 {
			if rdma.PSNDiff(s.first, r.una) > 0 {
				to = s.first
			} else {
				to = r.una
			}
			lost = true
			break
		}
	}
	r.moveTo(q, to)
	if lost && !q.state.Flushes() && !(r.again.back && r.again.backAt == r.una) {
		r.again.back, r.again.backAt = true, r.una // once; after that the timer decides
		r.back(q, false)
	}
}

// moveTo is progress: una moves, and patience is what it was.
func (r *requester) moveTo(q *queuePair, to uint32) {
	n := rdma.PSNDiff(to, r.una)
	if n <= 0 {
		return
	}
	r.una = to
	r.again.moved, r.again.spent, r.again.probes, r.again.backs = q.d.now, q.d.now, 0, 0
	r.again.notBefore = 0 // what it waited for is over
	r.rtt.Answered(to, q.d.now)
	r.again.retries, r.again.rnrs = q.attr.RetryCount, q.attr.RNRRetry
	r.flow.Acked(n)
	r.reads.Done(to)
	r.advance(q)
}

// notReady takes an RNR: the responder has no receive for the message that begins at p.PSN.
func (r *requester) notReady(q *queuePair, p *packet.Packet) {
	r.acked(q, p.PSN)
	if r.una != p.PSN || r.idle() || r.ring.Empty() || q.state.Flushes() {
		return
	}
	if r.again.rnrs == 0 {
		q.failSend(rdma.StatusRNRExceeded)
		return
	}
	if r.again.rnrs != 7 {
		r.again.rnrs--
	}
	// It is alive, and will drop whatever comes behind the one packet that asks again.
	r.again.retries, r.again.spent = q.attr.RetryCount, q.d.now
	r.flow.Probe()
	r.rewind(q)
	r.hold(q, rdma.RNRDelay(p.Syndrome.Timer()))
}

// refused takes a NAK.
func (r *requester) refused(q *queuePair, p *packet.Packet) {
	r.acked(q, p.PSN)
	if r.una != p.PSN || r.idle() || r.ring.Empty() || q.state.Flushes() {
		return
	}
	switch p.Syndrome {
	case packet.NakSequence:
		r.back(q, false)
	case packet.NakAccess:
		q.failSend(rdma.StatusRemAccess)
	case packet.NakOperation:
		q.failSend(rdma.StatusRemOp)
	case packet.NakRequest:
		q.failSend(rdma.StatusRemInvReq)
	default:
		q.d.stats.BadAnswers++
	}
}

// data takes an answer to a READ or an atomic.
func (r *requester) data(q *queuePair, p *packet.Packet) {
	if rdma.PSNDiff(p.PSN, r.una) < 0 {
		q.d.stats.Duplicates++
		return
	}
	r.acked(q, p.PSN)
	if r.una != p.PSN || r.ring.Empty() || q.state.Flushes() {
		return
	}
	s := r.slot(r.ring.Head)
	w := r.load(q, r.ring.Head)
	atomic := p.Opcode == packet.AtomicAck
	if !s.begun || s.n == 0 || !w.Op.Answered() || atomic != w.Op.Atomic() || p.Opcode.Has()&packet.HasAETH != 0 && !p.Syndrome.IsAck() {
		q.failSend(rdma.StatusBadResp)
		return
	}
	b := p.Payload
	if atomic {
		v := native(p.Orig)
		b = v[:]
	}
	at := (p.PSN - s.first) & rdma.MaxNum * uint32(q.mtu)
	if len(b) != int(min(w.Length-at, uint32(q.mtu))) {
		q.failSend(rdma.StatusBadResp)
		return
	}
	if st := q.pd.scatter(w.SGE[:w.NSGE], at, b); st != rdma.StatusSuccess {
		q.failSend(st)
		return
	}
	r.moveTo(q, rdma.PSNAdd(p.PSN, 1))
}
