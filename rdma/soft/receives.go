package soft

import "github.com/openbraid/braid/rdma"

// dropRecvs gives the receives back.
func (q *queuePair) dropRecvs() {
	for q.rq.Count > 0 {
		q.popRecv()
	}
}

// popRecv ends the first receive.
func (q *queuePair) popRecv() {
	_, sges := q.rq.First()
	for _, s := range sges {
		q.pd.use(s, -1)
	}
	q.rq.Pop()
}

func (q *queuePair) PostRecv(wrs []rdma.RecvWR) (int, rdma.Status) {
	if q.gone {
		return 0, rdma.Closed
	}
	if st := q.state.MayRecv(); st != rdma.Posted {
		return 0, st
	}
	for i := range wrs {
		if st := q.rq.Push(&wrs[i]); st != rdma.Posted {
			return i, st
		}
		for _, s := range wrs[i].SGL {
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
	wc.ID, _ = q.rq.First()
	wc.QPNum = q.num
	q.popRecv()
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
