package faulty

import (
	"slices"

	"github.com/openbraid/braid/rdma"
)

// queuePair is a queue pair whose posts may have to wait.
type queuePair struct {
	rdma.QP
	d     *Device
	recv  *completionQueue
	own   bool          // it is connected to itself
	ended bool          // it was told to go to ERR or RESET
	waits []rdma.SendWR // posted by the user, and not by us
}

// Modify implements rdma.QP. What waits is the device's to end when it is in ERR; after RESET nothing of it is left.
func (q *queuePair) Modify(a rdma.QPAttr, mask rdma.AttrMask) error {
	if err := q.QP.Modify(a, mask); err != nil {
		return err
	}
	if mask&rdma.MaskAV != 0 {
		q.own = a.DestQPN == q.Num() && slices.ContainsFunc(q.d.GIDs(), func(g rdma.GIDEntry) bool { return g.GID == a.AV.DGID })
	}
	switch q.ended = a.State == rdma.Err || a.State == rdma.Reset; a.State {
	case rdma.Err:
		q.release()
	case rdma.Reset:
		q.waits = nil
		q.recv.forget(q.Num())
	case rdma.Init, rdma.RTR, rdma.RTS, rdma.SQD, rdma.SQE, rdma.QPStates:
	}
	return nil
}

// PostSend implements rdma.QP.
func (q *queuePair) PostSend(wrs []rdma.SendWR) (int, rdma.Status) {
	if q.own || q.ended || len(q.waits) == 0 && !q.d.look().Tx {
		return q.QP.PostSend(wrs)
	}
	for _, wr := range wrs {
		wr.SGL = slices.Clone(wr.SGL)
		if wr.Inline != nil {
			wr.Inline = append(make([]byte, 0, len(wr.Inline)), wr.Inline...)
		}
		q.waits = append(q.waits, wr)
	}
	if len(wrs) > 0 {
		q.d.link.Stopped()
	}
	return len(wrs), rdma.Posted
}

// release posts what waits. What the device doesn't take ends the queue pair: its user was told that it was posted.
func (q *queuePair) release() int {
	n := len(q.waits)
	if n == 0 {
		return 0
	}
	k, _ := q.QP.PostSend(q.waits)
	q.waits = q.waits[k:]
	if len(q.waits) > 0 {
		_ = q.QP.Modify(rdma.QPAttr{State: rdma.Err}, 0)
		k, _ = q.QP.PostSend(q.waits)
		q.waits = q.waits[k:]
	}
	if len(q.waits) == 0 {
		q.waits = nil
	}
	return n
}

// Destroy implements rdma.QP.
func (q *queuePair) Destroy() error {
	if err := q.QP.Destroy(); err != nil {
		return err
	}
	q.waits = nil
	q.recv.forget(q.Num())
	q.d.forget(q)
	return nil
}

// completionQueue is a completion queue whose receives may have to wait.
type completionQueue struct {
	rdma.CQ
	d     *Device
	waits []rdma.WC
}

// Poll implements rdma.CQ.
func (q *completionQueue) Poll(dst []rdma.WC) (n int) {
	held := q.d.look().Rx
	if len(q.waits) > 0 {
		q.waits = slices.DeleteFunc(q.waits, func(wc rdma.WC) bool {
			if n == len(dst) || held && !q.over(&wc) {
				return false
			}
			dst[n] = wc
			n++
			return true
		})
	}
	for n < len(dst) {
		k := q.CQ.Poll(dst[n:])
		if k == 0 {
			return n
		}
		if !held && len(q.waits) == 0 {
			return n + k
		}
		for _, wc := range dst[n : n+k] {
			if received(&wc) && (held || q.behind(wc.QPNum)) && !q.over(&wc) {
				q.waits = append(q.waits, wc)
				continue
			}
			dst[n] = wc
			n++
		}
	}
	return n
}

// received says whether a completion is of something that came from the peer.
func received(wc *rdma.WC) bool {
	return wc.Status == rdma.StatusSuccess && (wc.Op == rdma.WCRecv || wc.Op == rdma.WCRecvWriteImm)
}

// over says whether a completion need not wait: of a queue pair that is connected to itself, or was told to end.
func (q *completionQueue) over(wc *rdma.WC) bool {
	p := q.d.byNumber(wc.QPNum)
	return p == nil || p.own || p.ended
}

// behind says whether something of the queue pair waits.
func (q *completionQueue) behind(number uint32) bool {
	return slices.ContainsFunc(q.waits, func(wc rdma.WC) bool { return wc.QPNum == number })
}

// forget drops what waits of a queue pair that is gone.
func (q *completionQueue) forget(number uint32) {
	q.waits = slices.DeleteFunc(q.waits, func(wc rdma.WC) bool { return wc.QPNum == number })
}

// Arm implements rdma.CQ.
func (q *completionQueue) Arm(solicited bool) bool {
	if len(q.waits) > 0 && !q.d.look().Rx {
		return false
	}
	return q.CQ.Arm(solicited)
}

// Destroy implements rdma.CQ.
func (q *completionQueue) Destroy() error {
	if err := q.CQ.Destroy(); err != nil {
		return err
	}
	q.waits = nil
	q.d.cqs = slices.DeleteFunc(q.d.cqs, func(o *completionQueue) bool { return o == q })
	return nil
}
