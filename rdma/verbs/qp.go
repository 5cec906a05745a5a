//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"fmt"
	"slices"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs/books"
)

// queuePair is a queue pair. state is what we know; the adapter may have gone to ERR since.
type queuePair struct {
	p      *domain
	d      *device
	qp     *C.struct_ibv_qp
	init   rdma.QPInit
	send   *completionQueue
	serial uint32
	num    uint32
	state  rdma.QPState
	attr   rdma.QPAttr // as asked for

	sends, recvs *books.Queue
	inline       int  // bytes, as the device gave them
	empty        bool // EventLastWQE was said since it is in ERR
	draining     bool // in SQD, and it was not said that what was begun is over
	gone         bool
}

// CreateQP implements rdma.PD.
func (p *domain) CreateQP(a rdma.QPInit) (rdma.QP, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	scq, ok1 := a.SendCQ.(*completionQueue)
	rcq, ok2 := a.RecvCQ.(*completionQueue)
	c, can := &a.Cap, &p.d.attr
	switch {
	case a.Type == rdma.TypeGSI:
		return nil, fmt.Errorf("%w: %s keeps queue pair 1 to itself", rdma.ErrUnsupported, can.Name)
	case !ok1 || !ok2 || scq.cq == nil || rcq.cq == nil || scq.d != p.d || rcq.d != p.d:
		return nil, fmt.Errorf("%w: a queue pair needs completion queues of its device", rdma.ErrInvalid)
	case a.Type != rdma.TypeRC && a.Type != rdma.TypeUD, c.SendBlocks < 0, c.RecvWR < 0, c.SendSGE < 0, c.RecvSGE < 0, c.Inline < 0:
		return nil, fmt.Errorf("%w: a queue pair of %v with %+v", rdma.ErrInvalid, a.Type, *c)
	case c.SendBlocks > can.MaxSendBlocks, c.RecvWR > can.MaxRecvWR, c.SendSGE > can.MaxSGE, c.RecvSGE > can.MaxSGE, c.Inline > can.MaxInline:
		return nil, fmt.Errorf("%w: a queue pair with %+v; %s can %+v", rdma.ErrLimit, *c, can.Name, *can)
	}
	var i C.struct_ibv_qp_init_attr
	i.send_cq, i.recv_cq, i.qp_type = scq.cq, rcq.cq, C.IBV_QPT_RC
	if a.Type == rdma.TypeUD {
		i.qp_type = C.IBV_QPT_UD
	}
	if a.SigAll {
		i.sq_sig_all = 1
	}
	i.cap.max_send_wr, i.cap.max_recv_wr = C.uint32_t(c.SendBlocks+1), C.uint32_t(max(1, c.RecvWR))
	i.cap.max_send_sge, i.cap.max_recv_sge = C.uint32_t(max(1, c.SendSGE)), C.uint32_t(max(1, c.RecvSGE))
	i.cap.max_inline_data = C.uint32_t(c.Inline)
	qp, err := C.ibv_create_qp(p.pd, &i)
	if qp == nil {
		return nil, wrap(err, "a queue pair of %s with %+v", can.Name, *c)
	}
	live.Add(1)
	q := &queuePair{p: p, d: p.d, qp: qp, init: a, send: scq, serial: p.d.next(), num: uint32(qp.qp_num),
		sends: books.New(c.SendBlocks, c.SendSGE), recvs: books.New(c.RecvWR, c.RecvSGE)}
	C.braid_name_qp(qp, name(q.serial))
	p.d.scratch.grow(c)
	scq.users++
	rcq.users++
	p.qps[q], p.d.qps[q.serial] = true, q
	return q, nil
}

func (q *queuePair) Type() rdma.QPType       { return q.init.Type }
func (q *queuePair) Num() uint32             { return q.num }
func (q *queuePair) Blocks(*rdma.SendWR) int { return 1 }
func (q *queuePair) mayFall() bool {
	return q.state == rdma.RTR || q.state == rdma.RTS || q.state == rdma.SQD
}
func (q *queuePair) String() string { return fmt.Sprintf("%v %d", q.init.Type, q.num) }
func (q *queuePair) ask(a *C.struct_ibv_qp_attr) bool {
	var i C.struct_ibv_qp_init_attr
	const all = C.IBV_QP_STATE | C.IBV_QP_RQ_PSN | C.IBV_QP_SQ_PSN
	return !q.gone && C.ibv_query_qp(q.qp, a, all, &i) == 0
}

// State implements rdma.QP. It asks the system, since an adapter goes to ERR without a word.
func (q *queuePair) State() rdma.QPState {
	var a C.struct_ibv_qp_attr
	if q.mayFall() && q.ask(&a) {
		q.learn(rdma.QPState(a.qp_state))
	}
	return q.state
}

// learn takes in what the adapter says of the state.
func (q *queuePair) learn(s rdma.QPState) {
	switch {
	case s == rdma.Err:
		q.fail()
	case s == rdma.SQE && q.init.Type.Datagram():
		rdma.Note(q.init.Type, &q.state, rdma.SendFailed)
	}
}

// Query implements rdma.QP.
func (q *queuePair) Query() rdma.QPAttr {
	r := q.attr
	var a C.struct_ibv_qp_attr
	if q.ask(&a) {
		if q.mayFall() {
			q.learn(rdma.QPState(a.qp_state))
		}
		r.RQPSN, r.SQPSN, r.Draining = uint32(a.rq_psn)&rdma.MaxNum, uint32(a.sq_psn)&rdma.MaxNum, a.sq_draining != 0
	}
	r.State = q.state
	return r
}

// Modify implements rdma.QP. To RTR the system resolves the address, and may take a second for it.
func (q *queuePair) Modify(a rdma.QPAttr, mask rdma.AttrMask) error {
	if q.gone {
		return rdma.ErrClosed
	}
	if err := rdma.CheckModify(q.init.Type, q.State(), &a, mask); err != nil {
		return err
	}
	if mask&rdma.MaskAV != 0 {
		if err := q.d.route(&a.AV); err != nil {
			return err
		}
		if q.state == rdma.SQD && q.Query().Draining {
			return fmt.Errorf("%w: a new address before the send queue is drained", rdma.ErrBusy)
		}
	}
	c, m := q.attributes(&a, mask)
	if e := C.ibv_modify_qp(q.qp, &c, C.int(m)); e != 0 {
		return wrap(errnoOf(e), "queue pair %d of %s from %v to %v", q.num, q.d.attr.Name, q.state, a.State)
	}
	q.remember(&a, mask)
	was := q.state
	rdma.Note(q.init.Type, &q.state, rdma.QPEvent(a.State))
	switch a.State {
	case rdma.Err:
		q.flush()
	case rdma.Reset:
		q.sends.Clear()
		q.recvs.Clear()
		if was == rdma.Err && !q.empty { // nothing more comes
			q.d.events = append(q.d.events, rdma.Event{Type: rdma.EventLastWQE, QP: q})
		}
		q.empty = false
	case rdma.SQD:
		if was == rdma.RTS {
			q.draining = true
			q.attend()
		}
	case rdma.RTS:
		if was == rdma.SQD && q.sends.Len() > 0 {
			C.braid_kick(q.qp)
		}
	default:
	}
	return nil
}

// attributes are those of the contract as libibverbs wants them.
func (q *queuePair) attributes(a *rdma.QPAttr, mask rdma.AttrMask) (c C.struct_ibv_qp_attr, m C.enum_ibv_qp_attr_mask) {
	c.qp_state, m = uint32(a.State), C.IBV_QP_STATE
	if q.state == rdma.Reset && a.State == rdma.Init {
		c.port_num = q.d.port
		m |= C.IBV_QP_PORT | C.IBV_QP_PKEY_INDEX
	}
	if q.state == rdma.RTS && a.State == rdma.SQD {
		c.en_sqd_async_notify = 1
		m |= C.IBV_QP_EN_SQD_ASYNC_NOTIFY
	}
	c.qp_access_flags, c.qkey = C.uint(a.Access&rdma.AccessRemote), C.uint32_t(a.QKey)
	c.path_mtu, c.dest_qp_num, c.rq_psn, c.sq_psn = uint32(a.PathMTU), C.uint32_t(a.DestQPN), C.uint32_t(a.RQPSN), C.uint32_t(a.SQPSN)
	c.max_dest_rd_atomic, c.max_rd_atomic = C.uint8_t(a.MaxDestReads), C.uint8_t(a.MaxReads)
	c.min_rnr_timer, c.timeout, c.retry_cnt, c.rnr_retry = C.uint8_t(a.MinRNRTimer), C.uint8_t(a.Timeout), C.uint8_t(min(a.RetryCount, q.d.retries)), C.uint8_t(a.RNRRetry)
	if mask&rdma.MaskAV != 0 {
		c.ah_attr = q.d.address(&a.AV)
	}
	for _, bit := range bits {
		if mask&bit.ours != 0 {
			m |= bit.theirs
		}
	}
	return c, m
}

var bits = []struct {
	ours   rdma.AttrMask
	theirs C.enum_ibv_qp_attr_mask
}{
	{rdma.MaskAccess, C.IBV_QP_ACCESS_FLAGS}, {rdma.MaskQKey, C.IBV_QP_QKEY}, {rdma.MaskAV, C.IBV_QP_AV}, {rdma.MaskPathMTU, C.IBV_QP_PATH_MTU},
	{rdma.MaskDestQPN, C.IBV_QP_DEST_QPN}, {rdma.MaskRQPSN, C.IBV_QP_RQ_PSN}, {rdma.MaskMaxDestReads, C.IBV_QP_MAX_DEST_RD_ATOMIC},
	{rdma.MaskMinRNRTimer, C.IBV_QP_MIN_RNR_TIMER}, {rdma.MaskSQPSN, C.IBV_QP_SQ_PSN}, {rdma.MaskTimeout, C.IBV_QP_TIMEOUT},
	{rdma.MaskRetryCount, C.IBV_QP_RETRY_CNT}, {rdma.MaskRNRRetry, C.IBV_QP_RNR_RETRY}, {rdma.MaskMaxReads, C.IBV_QP_MAX_QP_RD_ATOMIC},
}

// remember keeps the attributes that were meant, for Query.
func (q *queuePair) remember(a *rdma.QPAttr, mask rdma.AttrMask) {
	b := &q.attr
	for _, f := range []struct {
		bit rdma.AttrMask
		set func()
	}{
		{rdma.MaskAccess, func() { b.Access = a.Access }}, {rdma.MaskQKey, func() { b.QKey = a.QKey }}, {rdma.MaskAV, func() { b.AV = a.AV }},
		{rdma.MaskPathMTU, func() { b.PathMTU = a.PathMTU }}, {rdma.MaskDestQPN, func() { b.DestQPN = a.DestQPN }},
		{rdma.MaskMaxDestReads, func() { b.MaxDestReads = a.MaxDestReads }}, {rdma.MaskMinRNRTimer, func() { b.MinRNRTimer = a.MinRNRTimer }},
		{rdma.MaskTimeout, func() { b.Timeout = a.Timeout }}, {rdma.MaskRetryCount, func() { b.RetryCount = a.RetryCount }},
		{rdma.MaskRNRRetry, func() { b.RNRRetry = a.RNRRetry }}, {rdma.MaskMaxReads, func() { b.MaxReads = a.MaxReads }},
	} {
		if mask&f.bit != 0 {
			f.set()
		}
	}
}

// fail: the queue pair is in ERR, or must be. Saying so to the adapter has it flush what it would leave.
func (q *queuePair) fail() {
	if q.gone || q.state == rdma.Err || !rdma.Note(q.init.Type, &q.state, rdma.ToErr) {
		return
	}
	q.nudge()
	q.flush()
}

// nudge says once more that it is in ERR: an adapter may flush only then what was posted since.
func (q *queuePair) nudge() {
	c := C.struct_ibv_qp_attr{qp_state: C.IBV_QPS_ERR}
	C.ibv_modify_qp(q.qp, &c, C.IBV_QP_STATE)
}

// flush: it has come to ERR.
func (q *queuePair) flush() {
	if q.sends.Len() > 0 {
		q.attend()
	}
	q.ended()
}

// attend has the completion queue of its sends look after it whenever that is empty.
func (q *queuePair) attend() {
	if !slices.Contains(q.send.attended, q) {
		q.send.attended = append(q.send.attended, q)
	}
}

// failed: a work request ended with an error.
func (q *queuePair) failed(recv bool, s rdma.WCStatus) {
	if q.state == rdma.Err {
		return
	}
	if q.init.Type.Datagram() && !recv {
		q.State()
		return
	}
	q.fail()
}

// ended says, once, when everything posted to a queue pair in ERR is over.
func (q *queuePair) ended() {
	if q.state == rdma.Err && !q.empty && q.sends.Len() == 0 && q.recvs.Len() == 0 {
		q.empty = true
		q.d.events = append(q.d.events, rdma.Event{Type: rdma.EventLastWQE, QP: q})
	}
}

// Destroy implements rdma.QP.
func (q *queuePair) Destroy() error {
	q.end()
	return nil
}

func (q *queuePair) end() {
	if q.gone {
		return
	}
	q.gone = true
	C.ibv_destroy_qp(q.qp)
	live.Add(-1)
	q.sends.Clear()
	q.recvs.Clear()
	q.init.SendCQ.(*completionQueue).users--
	q.init.RecvCQ.(*completionQueue).users--
	delete(q.p.qps, q)
	delete(q.d.qps, q.serial)
}
