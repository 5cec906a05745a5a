package soft

import (
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/pace"
)

// failSend ends the work request at the head of the send ring with an error, and the queue pair with it.
func (q *queuePair) failSend(status rdma.WCStatus) {
	if q.state.Flushes() || q.req.ring.Empty() {
		return
	}
	q.note(rdma.SendFailed) // first, so that a completion that finds no room does nothing more
	q.req.complete(q, status)
	if q.state == rdma.Err {
		q.rsp.answers.Clear()
		q.flushAll()
		return
	}
	q.flushSends()
}

// failRecv ends the queue pair because of what its peer asked for. The answers that wait still leave.
func (q *queuePair) failRecv(e rdma.EventType) {
	q.note(rdma.RecvFailed)
	q.d.event(rdma.Event{Type: e, QP: q})
	q.flushAll()
}

// fail ends the queue pair for a reason that no work request has.
func (q *queuePair) fail(e rdma.QPEvent) {
	was := q.state
	q.note(e)
	if q.state == rdma.Err && was != rdma.Err {
		q.rsp.answers.Clear()
		q.d.event(rdma.Event{Type: rdma.EventQPFatal, QP: q})
		q.flushAll()
	}
}

// flushAll ends everything that is posted, and says so.
func (q *queuePair) flushAll() {
	q.flushSends()
	q.flushRecvs()
	if !q.last {
		q.last = true
		q.d.event(rdma.Event{Type: rdma.EventLastWQE, QP: q})
	}
}

func (q *queuePair) flushSends() {
	r := &q.req
	q.d.timers.Stop(r.timer)
	r.again.notBefore = 0
	for !r.ring.Empty() {
		r.complete(q, rdma.StatusFlushed)
	}
	r.reads = pace.Segments{}
	r.una, r.high = r.next, r.next
}

func (q *queuePair) flushRecvs() {
	for q.rq.Count > 0 {
		q.received(rdma.WC{Status: rdma.StatusFlushed})
	}
}
