package soft

import "github.com/openbraid/braid/rdma"

// receives is a receive queue.
type receives struct {
	wrs   []receive
	sges  []rdma.SGE // per to each
	per   int
	head  int
	count int
}

type receive struct {
	id uint64
	n  int
}

func (r *receives) open(c rdma.QPCap) {
	r.wrs, r.per = make([]receive, c.RecvWR), c.RecvSGE
	r.sges = make([]rdma.SGE, c.RecvWR*c.RecvSGE)
}

// first is the receive that is used next; there is one.
func (r *receives) first() (uint64, []rdma.SGE) {
	w := r.wrs[r.head]
	return w.id, r.sges[r.head*r.per:][:w.n]
}

func (r *receives) pop(p *pd) {
	_, sges := r.first()
	for _, s := range sges {
		p.use(s, -1)
	}
	if r.head++; r.head == len(r.wrs) {
		r.head = 0
	}
	r.count--
}

// drop gives everything back.
func (r *receives) drop(q *queuePair) {
	for r.count > 0 {
		r.pop(q.pd)
	}
}

func (q *queuePair) PostRecv(wrs []rdma.RecvWR) (int, rdma.Status) {
	if q.gone {
		return 0, rdma.Closed
	}
	if st := q.state.MayRecv(); st != rdma.Posted {
		return 0, st
	}
	r := &q.rq
	for i := range wrs {
		w := &wrs[i]
		if len(w.SGL) > r.per {
			return i, rdma.BadWR
		}
		if r.count == len(r.wrs) {
			return i, rdma.Full
		}
		at := (r.head + r.count) % len(r.wrs)
		r.wrs[at] = receive{id: w.ID, n: copy(r.sges[at*r.per:], w.SGL)}
		r.count++
		for _, s := range w.SGL {
			q.pd.use(s, 1)
		}
	}
	if q.state == rdma.Err {
		q.flushRecvs()
	} else if len(wrs) > 0 {
		q.rsp.fed(q)
	}
	return len(wrs), rdma.Posted
}

// received completes the first receive.
func (q *queuePair) received(wc rdma.WC) {
	wc.ID, _ = q.rq.first()
	wc.QPNum = q.num
	q.rq.pop(q.pd)
	q.rcq.push(entry{wc: wc})
}

// scatter writes data at offset off into a list of memory.
func (p *pd) scatter(sges []rdma.SGE, off uint32, data []byte) rdma.WCStatus {
	for _, s := range sges {
		if len(data) == 0 {
			break
		}
		if off >= s.Length {
			off -= s.Length
			continue
		}
		m, ok := p.local(s, true)
		if !ok {
			return rdma.StatusLocProt
		}
		m = m[off:]
		off = 0
		n := min(len(m), len(data))
		store(m[:n], data[:n])
		data = data[n:]
	}
	if len(data) > 0 {
		return rdma.StatusLocLen
	}
	return rdma.StatusSuccess
}

// gather reads from offset off of a list of memory into dst. The list was checked.
func (p *pd) gather(sges []rdma.SGE, off uint32, dst []byte) {
	for _, s := range sges {
		if len(dst) == 0 {
			return
		}
		if off >= s.Length {
			off -= s.Length
			continue
		}
		m, ok := p.local(s, false)
		if !ok {
			return
		}
		n := copy(dst, m[off:])
		off = 0
		dst = dst[n:]
	}
}
