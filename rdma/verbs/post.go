//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"syscall"
	"unsafe"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs/books"
)

// receives is the bit of a work request's number that tells receives from sends.
const receives = 1 << 31

// scratch is C memory for one list of work requests and one batch of completions: the device has one owner.
type scratch struct {
	wcs    *C.struct_braid_wc
	wrs    unsafe.Pointer // one block of memory with everything below
	sends  []C.struct_braid_send
	recvs  []C.struct_braid_recv
	sges   []C.struct_ibv_sge
	chain  *C.struct_ibv_send_wr
	rchain *C.struct_ibv_recv_wr
	data   []byte // of inline payloads
	errno  *C.int // what a call says; here, since what is handed to C by address is C's memory or costs an allocation
	event  *C.struct_braid_event
	most   rdma.QPCap
}

// grow makes room for the lists of a queue pair.
func (s *scratch) grow(c *rdma.QPCap) {
	m := &s.most
	if s.wcs != nil && c.SendBlocks < m.SendBlocks && c.RecvWR <= m.RecvWR && max(c.SendSGE, c.RecvSGE) <= m.SendSGE && c.Inline <= m.Inline {
		return
	}
	s.free()
	m.SendBlocks, m.RecvWR = max(m.SendBlocks, c.SendBlocks+1), max(m.RecvWR, c.RecvWR)
	m.SendSGE, m.Inline = max(m.SendSGE, c.SendSGE, c.RecvSGE, 1), max(m.Inline, c.Inline)
	n, r := m.SendBlocks, max(m.RecvWR, 1)
	sges := max(n, r) * m.SendSGE
	sizes := []int{
		C.SHIM_POLL * C.sizeof_struct_braid_wc, n * C.sizeof_struct_braid_send, r * C.sizeof_struct_braid_recv, sges * C.sizeof_struct_ibv_sge,
		n * C.sizeof_struct_ibv_send_wr, r * C.sizeof_struct_ibv_recv_wr, n * m.Inline, C.sizeof_int, C.sizeof_struct_braid_event,
	}
	total := 0
	at := make([]int, len(sizes))
	for i, b := range sizes {
		at[i] = total
		total += (b + 63) &^ 63
	}
	s.wrs = C.calloc(1, C.size_t(total+1))
	live.Add(1)
	part := func(i int) unsafe.Pointer { return unsafe.Add(s.wrs, at[i]) }
	s.wcs = (*C.struct_braid_wc)(part(0))
	s.sends = unsafe.Slice((*C.struct_braid_send)(part(1)), n)
	s.recvs = unsafe.Slice((*C.struct_braid_recv)(part(2)), r)
	s.sges = unsafe.Slice((*C.struct_ibv_sge)(part(3)), sges)
	s.chain, s.rchain = (*C.struct_ibv_send_wr)(part(4)), (*C.struct_ibv_recv_wr)(part(5))
	s.data = unsafe.Slice((*byte)(part(6)), n*m.Inline)
	s.errno, s.event = (*C.int)(part(7)), (*C.struct_braid_event)(part(8))
}

func (s *scratch) free() {
	if s.wrs != nil {
		C.free(s.wrs)
		live.Add(-1)
		s.wrs, s.wcs = nil, nil
	}
}

// PostSend implements rdma.QP.
func (q *queuePair) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	if q.gone {
		return 0, rdma.Closed
	}
	if st := q.state.MaySend(); st != rdma.Posted {
		return 0, st
	}
	n, sges, st := 0, 0, rdma.Posted
	for ; n < len(wrs); n++ {
		if wr := &wrs[n]; !wr.Op.Valid(q.init.Type) || !q.fits(wr) {
			st = rdma.BadWR
			break
		}
		if q.sends.Room() == 0 {
			st = rdma.Full
			break
		}
		sges = q.write(n, sges, &wrs[n])
	}
	if n == 0 {
		return 0, st
	}
	if k, why := q.ring(n); k < n {
		q.sends.TakeBack(n - k)
		n, st = k, why
	}
	for i := range wrs[:n] {
		if wrs[i].Op == rdma.OpBindMW {
			q.opened(&wrs[i])
		}
	}
	if q.state == rdma.Err {
		q.nudge()
		q.flush()
	}
	return n, st
}

// write puts a work request into the books and into scratch, and returns the first piece that is free then.
func (q *queuePair) write(i, sges int, wr *rdma.SendWR) int {
	s := &q.d.scratch
	e := books.Entry{ID: wr.ID}
	w := &s.sends[i]
	*w = C.struct_braid_send{
		addr: C.uint64_t(wr.Addr), compare_add: C.uint64_t(wr.CompareAdd), swap: C.uint64_t(wr.Swap), op: ops[wr.Op], flags: flags(wr.Flags),
		imm: C.uint32_t(wr.Imm), key: C.uint32_t(wr.RKey), sge: C.uint32_t(sges), sges: C.uint32_t(len(wr.SGL)),
	}
	switch {
	case wr.Op == rdma.OpBindMW:
		e.Object = q.bind(w, wr)
	case q.init.Type.Datagram():
		h := wr.AH.(*handle)
		w.ah, w.qpn, w.qkey, e.Object = h.ah, C.uint32_t(wr.DestQPN), C.uint32_t(wr.DestQKey), h
	}
	w.id = q.id(q.sends.Put(e))
	if wr.Op == rdma.OpBindMW {
		q.sends.Key(wr.Bind.MR.(*region).lkey)
	}
	if wr.Inline != nil {
		to := s.data[i*s.most.Inline:][:copy(s.data[i*s.most.Inline:][:s.most.Inline], wr.Inline)]
		w.flags |= C.IBV_SEND_INLINE
		if len(to) > 0 {
			w.sges = 1
			s.sges[sges] = C.struct_ibv_sge{addr: C.uint64_t(addressOf(to)), length: C.uint32_t(len(to))}
			sges++
		}
		return sges
	}
	for _, g := range wr.SGL {
		s.sges[sges] = C.struct_ibv_sge{addr: C.uint64_t(g.Addr), length: C.uint32_t(g.Length), lkey: C.uint32_t(g.LKey)}
		q.sends.Key(g.LKey)
		sges++
	}
	return sges
}

// id is the number that the adapter hands back.
func (q *queuePair) id(number uint32) C.uint64_t {
	return C.uint64_t(q.serial)<<32 | C.uint64_t(number)
}

// ring posts the first n of scratch.
func (q *queuePair) ring(n int) (int, rdma.Status) {
	s := &q.d.scratch
	q.d.crossings++
	k := int(C.braid_post_send(q.qp, &s.sends[0], &s.sges[0], s.chain, C.int(n), s.errno))
	return k, posted(*s.errno)
}

// posted is an error number of a post as the contract has it.
func posted(e C.int) rdma.Status {
	switch syscall.Errno(max(e, -e)) {
	case 0:
		return rdma.Posted
	case syscall.ENOMEM:
		return rdma.Full
	}
	return rdma.BadWR
}

var ops = [...]C.uint32_t{
	rdma.OpWrite: C.IBV_WR_RDMA_WRITE, rdma.OpWriteImm: C.IBV_WR_RDMA_WRITE_WITH_IMM, rdma.OpSend: C.IBV_WR_SEND, rdma.OpSendImm: C.IBV_WR_SEND_WITH_IMM,
	rdma.OpRead: C.IBV_WR_RDMA_READ, rdma.OpCompareSwap: C.IBV_WR_ATOMIC_CMP_AND_SWP, rdma.OpFetchAdd: C.IBV_WR_ATOMIC_FETCH_AND_ADD,
	rdma.OpLocalInv: C.IBV_WR_LOCAL_INV, rdma.OpBindMW: C.IBV_WR_BIND_MW, rdma.OpSendInv: C.IBV_WR_SEND_WITH_INV,
}

func flags(f rdma.SendFlags) (c C.uint32_t) {
	if f&rdma.FlagSignaled != 0 {
		c |= C.IBV_SEND_SIGNALED
	}
	if f&rdma.FlagFence != 0 {
		c |= C.IBV_SEND_FENCE
	}
	if f&rdma.FlagSolicited != 0 {
		c |= C.IBV_SEND_SOLICITED
	}
	return c
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
		return ok1 && ok2 && !mw.gone && mr.local != nil && mw.p.d == q.d && (mw.mw != nil || mw.alloc() == nil)
	case wr.Op == rdma.OpLocalInv || wr.Op.Atomic():
	case q.init.Type.Datagram():
		h, ok := wr.AH.(*handle)
		return ok && h.ah != nil && h.p == q.p && wr.DestQPN <= rdma.MaxNum
	}
	return true
}

// bind writes a bind. Of type 2 the key is ours to choose.
func (q *queuePair) bind(w *C.struct_braid_send, wr *rdma.SendWR) *window {
	mw, mr := wr.Bind.MW.(*window), wr.Bind.MR.(*region)
	w.mw, w.mr = mw.mw, mr.local
	w.addr, w.length, w.access = C.uint64_t(wr.Bind.Addr), C.uint64_t(wr.Bind.Length), C.uint32_t(wr.Bind.Access)
	w.key = C.uint32_t(C.braid_next_key(C.uint32_t(mw.rkey)))
	return mw
}

// opened: a bind is posted, so its window has a new key.
func (q *queuePair) opened(wr *rdma.SendWR) {
	mw, mr := wr.Bind.MW.(*window), wr.Bind.MR.(*region)
	mw.bound = mr
	if wr.Bind.Length == 0 {
		mw.bound = nil
	}
	if mw.typ == rdma.Window2 {
		mw.rkey = uint32(C.braid_next_key(C.uint32_t(mw.rkey)))
		mw.mw.rkey = C.uint32_t(mw.rkey)
		return
	}
	mw.rkey = uint32(mw.mw.rkey)
}

// marker posts a send of our own to a queue pair in ERR: when it is over, so is everything.
func (q *queuePair) marker() {
	w := &q.d.scratch.sends[0]
	*w = C.struct_braid_send{op: C.IBV_WR_SEND, flags: C.IBV_SEND_SIGNALED}
	if q.init.Type.Datagram() {
		h := q.sends.Last().(*handle)
		w.ah, w.qpn = h.ah, C.uint32_t(q.num)
	}
	w.id = q.id(q.sends.Put(books.Entry{Marker: true}))
	if n, _ := q.ring(1); n == 0 {
		q.sends.TakeBack(1)
		return
	}
	q.nudge()
}

// PostRecv implements rdma.QP.
func (q *queuePair) PostRecv(wrs []rdma.RecvWR) (int, rdma.Status) {
	if q.gone {
		return 0, rdma.Closed
	}
	if st := q.state.MayRecv(); st != rdma.Posted {
		return 0, st
	}
	s := &q.d.scratch
	n, sges, st := 0, 0, rdma.Posted
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		if len(wr.SGL) > q.init.Cap.RecvSGE {
			st = rdma.BadWR
			break
		}
		if q.recvs.Room() == 0 {
			st = rdma.Full
			break
		}
		e := books.Entry{ID: wr.ID}
		if len(wr.SGL) > 0 {
			e.Addr = wr.SGL[0].Addr
		}
		s.recvs[n] = C.struct_braid_recv{id: q.id(q.recvs.Put(e) | receives), sge: C.uint32_t(sges), sges: C.uint32_t(len(wr.SGL))}
		for _, g := range wr.SGL {
			s.sges[sges] = C.struct_ibv_sge{addr: C.uint64_t(g.Addr), length: C.uint32_t(g.Length), lkey: C.uint32_t(g.LKey)}
			q.recvs.Key(g.LKey)
			sges++
		}
	}
	if n == 0 {
		return 0, st
	}
	q.d.crossings++
	if k := int(C.braid_post_recv(q.qp, &s.recvs[0], &s.sges[0], s.rchain, C.int(n), s.errno)); k < n {
		q.recvs.TakeBack(n - k)
		n, st = k, posted(*s.errno)
	}
	if q.state == rdma.Err {
		q.nudge()
		q.flush()
	}
	return n, st
}
