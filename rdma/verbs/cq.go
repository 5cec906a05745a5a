//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/openbraid/braid/rdma"
)

// completionQueue is a completion queue.
type completionQueue struct {
	d      *device
	cq     *C.struct_ibv_cq
	serial uint32
	users  int

	ahead    []rdma.WC    // taken by Arm or at an overrun, and not polled yet
	attended []*queuePair // in ERR, with sends that are not over; or in SQD, and not drained
	overrun  bool
}

// CreateCQ implements rdma.Device.
func (d *device) CreateCQ(depth int) (rdma.CQ, error) {
	if d.closed {
		return nil, rdma.ErrClosed
	}
	if depth < 1 || depth > d.attr.MaxCQE {
		return nil, fmt.Errorf("%w: a completion queue of depth %d: 1 to %d", rdma.ErrInvalid, depth, d.attr.MaxCQE)
	}
	q := &completionQueue{d: d, serial: d.next()}
	cq, err := C.braid_create_cq(d.ctx, C.int(depth), name(q.serial), d.channel)
	if cq == nil {
		return nil, wrap(err, "a completion queue of %s", d.attr.Name)
	}
	live.Add(1)
	q.cq = cq
	d.cqs[q.serial] = q
	return q, nil
}

// Depth implements rdma.CQ.
func (q *completionQueue) Depth() int {
	if q.cq == nil {
		return 0
	}
	return int(q.cq.cqe)
}

// Destroy implements rdma.CQ.
func (q *completionQueue) Destroy() error {
	if q.users > 0 {
		return fmt.Errorf("%w: %d queue pairs use the completion queue", rdma.ErrBusy, q.users)
	}
	q.end()
	return nil
}

func (q *completionQueue) end() {
	if q.cq == nil {
		return
	}
	C.ibv_destroy_cq(q.cq)
	live.Add(-1)
	q.d.waiting -= len(q.ahead)
	q.cq, q.ahead = nil, nil
	delete(q.d.cqs, q.serial)
}

// Poll implements rdma.CQ.
func (q *completionQueue) Poll(dst []rdma.WC) int {
	n := copy(dst, q.ahead)
	if n > 0 {
		q.ahead = q.ahead[:copy(q.ahead, q.ahead[n:])]
		q.d.waiting -= n
	}
	for n < len(dst) && q.cq != nil && !q.overrun {
		want := min(len(dst)-n, C.SHIM_POLL)
		q.d.crossings++
		k := int(C.braid_poll(q.cq, q.d.wcs, C.int(want), q.d.invalidated))
		n += q.convert(k, dst[n:])
		if k < want {
			q.mark()
			break
		}
	}
	return n
}

// convert makes k completions of those in scratch, and returns how many are the user's.
func (q *completionQueue) convert(k int, dst []rdma.WC) (n int) {
	if k <= 0 {
		return 0
	}
	raw := unsafe.Slice(q.d.wcs, k)
	for i := range raw {
		if q.d.completed(&raw[i], &dst[n]) {
			n++
		}
	}
	return n
}

// Arm implements rdma.CQ.
func (q *completionQueue) Arm(solicited bool) bool {
	if q.cq == nil || q.overrun || len(q.ahead) > 0 {
		return len(q.ahead) == 0
	}
	s := C.int(0)
	if solicited {
		s = 1
	}
	q.d.woken = true
	q.d.crossings++
	k := int(C.braid_arm(q.cq, s, q.d.wcs, q.d.invalidated))
	q.take(k)
	if k < int(C.SHIM_POLL) {
		q.mark()
	}
	return len(q.ahead) == 0
}

// take keeps k completions of those in scratch for Poll.
func (q *completionQueue) take(k int) {
	if k <= 0 {
		return
	}
	at := len(q.ahead)
	for range k {
		q.ahead = append(q.ahead, rdma.WC{})
	}
	n := q.convert(k, q.ahead[at:])
	q.ahead = q.ahead[:at+n]
	q.d.waiting += n
	q.d.ring()
}

// mark has queue pairs in ERR say when they are empty. There is room for it: the queue has nothing of them, and room for all that is in their books. Those in SQD are told to look
// whether they are drained: the kernel's device does so only when it has something to send, and not when an answer comes (docs/verbs.md).
func (q *completionQueue) mark() {
	if len(q.attended) == 0 {
		return
	}
	left := q.attended[:0]
	for _, p := range q.attended {
		switch {
		case p.gone:
			continue
		case p.state == rdma.SQD && p.draining:
			q.d.crossings++
			C.braid_kick(p.qp)
		case p.state != rdma.Err || p.sends.Len() == 0:
			continue
		case !p.sends.Marked():
			p.marker()
		}
		left = append(left, p)
	}
	clear(q.attended[len(left):])
	q.attended = left
}

// overran keeps what can still be polled, and ends the queue.
func (q *completionQueue) overran() {
	if q.overrun || q.cq == nil {
		return
	}
	for left := q.Depth(); left > 0; {
		k := int(C.braid_poll(q.cq, q.d.wcs, C.int(min(left, C.SHIM_POLL)), q.d.invalidated))
		if k <= 0 {
			break
		}
		q.take(k)
		left -= k
	}
	q.overrun = true
	for _, p := range q.d.qps {
		if p.init.SendCQ == q || p.init.RecvCQ == q {
			p.fail()
		}
	}
}

// completed makes a completion of what the adapter says; false: it is nobody's any more, or our own.
func (d *device) completed(raw *C.struct_braid_wc, wc *rdma.WC) bool {
	q := d.owner(uint32(raw.id >> 32))
	if q == nil {
		return false
	}
	number := uint32(raw.id)
	book, recv := q.sends, number&receives != 0
	if recv {
		book = q.recvs
	}
	number &^= receives
	key := book.First(number)
	e, ok := book.Done(number)
	if !ok {
		return false
	}
	*wc = rdma.WC{
		ID: e.ID, Status: rdma.WCStatus(min(raw.status, C.uint32_t(rdma.StatusGeneral))), Op: rdma.WCOp(raw.op), Length: uint32(raw.length),
		Flags: rdma.WCFlags(raw.flags), QPNum: q.num, Vendor: uint32(raw.vendor),
	}
	switch {
	case wc.Flags&rdma.WCHasImm != 0:
		wc.Imm = uint32(raw.imm)
	case wc.Flags&rdma.WCHasInv != 0:
		wc.InvRKey = uint32(raw.imm)
	}
	if !q.init.Type.Datagram() {
		wc.Flags &^= rdma.WCHasGRH
	} else if recv && wc.Status == rdma.StatusSuccess {
		wc.SrcQPN, wc.SrcGID = uint32(raw.from), q.p.sender(key, e.Addr)
	}
	if wc.Status != rdma.StatusSuccess {
		q.failed(recv, wc.Status)
	}
	q.ended()
	return !e.Marker
}

// sender reads who sent a datagram, from the header before it.
func (p *domain) sender(key uint32, addr uint64) (g rdma.GID) {
	m := p.regions[key]
	if m == nil || addr < m.Addr() || addr+rdma.GRHBytes > m.Addr()+uint64(len(m.buf)) {
		return g
	}
	h := m.buf[addr-m.Addr():][:rdma.GRHBytes]
	if h[0]>>4 == 6 {
		return rdma.GID(h[8:24])
	}
	// 20 bytes of nothing, and an IPv4 header: the address in its mapped form.
	g[10], g[11] = 0xff, 0xff
	copy(g[12:], h[32:36])
	return g
}
