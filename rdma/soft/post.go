package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/ring"
)

func (q *queuePair) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	if q.gone {
		return 0, rdma.Closed
	}
	if st := q.state.MaySend(); st != rdma.Posted {
		return 0, st
	}
	q.d.now = q.d.cfg.Now()
	n, st := 0, rdma.Posted
	for ; n < len(wrs) && st == rdma.Posted; n++ {
		if st = q.post(&wrs[n]); st != rdma.Posted {
			break
		}
	}
	if q.state.Flushes() {
		q.flushSends()
	} else {
		q.d.run(q)
	}
	return n, st
}

// post writes one work request into the ring.
func (q *queuePair) post(wr *rdma.SendWR) rdma.Status {
	if !wr.Op.Valid(q.init.Type) || !q.fits(wr) {
		return rdma.BadWR
	}
	r := &q.req.ring
	blocks := q.Blocks(wr)
	if blocks > r.Room() {
		return rdma.Full
	}
	w := &q.req.scratch
	w.Op, w.Flags, w.Blocks, w.ID, w.Imm = wr.Op, uint8(wr.Flags), uint8(blocks), wr.ID, wr.Imm
	w.RKey, w.Addr, w.Compare, w.Swap = wr.RKey, wr.Addr, wr.CompareAdd, wr.Swap
	w.NSGE, w.InlineBytes = uint8(copy(w.SGE[:], wr.SGL)), uint16(copy(w.Data[:], wr.Inline))
	total := uint64(w.InlineBytes)
	if wr.Inline != nil {
		w.Flags |= ring.FlagInline
	}
	for _, s := range wr.SGL {
		total += uint64(s.Length)
		q.pd.use(s, 1)
	}
	w.Length = uint32(min(total, 1<<32-1))
	if q.datagram {
		h := wr.AH.(*handle)
		w.Route, w.Num, w.QKey = h.route, wr.DestQPN, wr.DestQKey
	}
	var mw *window
	var mr *region
	if wr.Op == rdma.OpBindMW {
		mw, mr = wr.Bind.MW.(*window), wr.Bind.MR.(*region)
		w.Addr, w.BindLength, w.Access, w.Num = wr.Bind.Addr, wr.Bind.Length, wr.Bind.Access, q.d.remoteKey()
		mw.rkey = w.Num
		mw.uses++
		mr.uses++
	}
	*q.req.slot(r.PI) = slot{mw: mw, mr: mr}
	r.Put(w, q.datagram)
	return rdma.Posted
}

// fits says whether a work request is one that can be.
func (q *queuePair) fits(wr *rdma.SendWR) bool {
	if !wr.Fits(&q.init.Cap, q.attr.MaxReads) {
		return false
	}
	switch {
	case wr.Op == rdma.OpBindMW:
		mw, ok1 := wr.Bind.MW.(*window)
		mr, ok2 := wr.Bind.MR.(*region)
		return ok1 && ok2 && !mw.gone && !mr.gone && mw.pd.d == q.d
	case wr.Op == rdma.OpLocalInv || wr.Op.Atomic():
	case q.datagram:
		h, ok := wr.AH.(*handle)
		return ok && !h.gone && h.pd == q.pd && wr.DestQPN <= rdma.MaxNum
	}
	return true
}
