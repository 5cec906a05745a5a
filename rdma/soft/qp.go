package soft

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/pace"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// queuePair is a queue pair: what both of its halves know.
type queuePair struct {
	d        *Device
	pd       *pd
	init     rdma.QPInit
	num      uint32
	state    rdma.QPState // written by note
	attr     rdma.QPAttr
	datagram bool
	scq, rcq *cq
	route    carrier.Route
	mtu      int

	req requester
	rsp responder
	rq  ring.Receives

	queued bool // in Device.ready
	last   bool // EventLastWQE was said
	gone   bool
}

var _ rdma.QP = (*queuePair)(nil)

func (p *pd) CreateQP(a rdma.QPInit) (rdma.QP, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	scq, ok1 := a.SendCQ.(*cq)
	rcq, ok2 := a.RecvCQ.(*cq)
	c := a.Cap
	switch d := p.d; {
	case a.Type < rdma.TypeRC || a.Type > rdma.TypeGSI:
		return nil, fmt.Errorf("%w: queue pairs of %v", rdma.ErrUnsupported, a.Type)
	case !ok1 || !ok2 || scq.d != d || rcq.d != d || scq.gone || rcq.gone:
		return nil, fmt.Errorf("%w: a queue pair needs completion queues of its device", rdma.ErrInvalid)
	case scq.overrun || rcq.overrun:
		return nil, errOverrun
	case c.SendBlocks < 0 || c.SendBlocks > maxBlocks || c.RecvWR < 0 || c.RecvWR > maxRecvWR || c.SendSGE < 0 || c.SendSGE > ring.MaxSGE ||
		c.RecvSGE < 0 || c.RecvSGE > ring.MaxSGE || c.Inline < 0 || c.Inline > ring.MaxInline:
		return nil, fmt.Errorf("%w: %+v is more than the device can", rdma.ErrInvalid, c)
	case a.Type == rdma.TypeGSI && d.qps[gsiNum] != nil:
		return nil, fmt.Errorf("%w: the device has its well-known queue pair", rdma.ErrBusy)
	}
	d := p.d
	q := &queuePair{d: d, pd: p, init: a, scq: scq, rcq: rcq, datagram: a.Type.Datagram(), num: gsiNum}
	if a.Type != rdma.TypeGSI {
		q.num = d.number(24, gsiNum+1, func(n uint32) bool { return d.qps[n] != nil })
	}
	q.req.open(q)
	q.rq.Open(c.RecvWR, c.RecvSGE)
	q.mtu = rdma.MTUFor(d.c.LinkBytes()).Bytes()
	if a.Type == rdma.TypeGSI {
		q.attr.QKey = rdma.GSIQKey
	}
	d.qps[q.num] = q
	d.all = append(d.all, q)
	p.users++
	scq.users++
	rcq.users++
	return q, nil
}

func (q *queuePair) Type() rdma.QPType   { return q.init.Type }
func (q *queuePair) Num() uint32         { return q.num }
func (q *queuePair) State() rdma.QPState { return q.state }
func (q *queuePair) Blocks(wr *rdma.SendWR) int {
	return ring.Blocks(wr.Op, q.datagram, len(wr.SGL), len(wr.Inline))
}

// note is the only place that writes a queue pair's state.
func (q *queuePair) note(e rdma.QPEvent) {
	if !rdma.Note(q.init.Type, &q.state, e) {
		panic(fmt.Sprintf("soft: %v queue pair is in %v, can't be: %v", q.init.Type, q.state, e))
	}
}

func (q *queuePair) Modify(a rdma.QPAttr, mask rdma.AttrMask) error {
	if q.gone {
		return rdma.ErrClosed
	}
	if err := rdma.CheckModify(q.init.Type, q.state, &a, mask); err != nil {
		return err
	}
	if q.state == rdma.Reset && a.State != rdma.Reset && (q.scq.overrun || q.rcq.overrun) {
		return errOverrun
	}
	if a.MaxReads > pace.MaxReads && mask&rdma.MaskMaxReads != 0 || a.MaxDestReads > pace.MaxReads && mask&rdma.MaskMaxDestReads != 0 {
		return fmt.Errorf("%w: more than %d READs and atomics at a time", rdma.ErrInvalid, pace.MaxReads)
	}
	if q.state == rdma.SQD && mask&rdma.MaskAV != 0 && q.attr.Draining {
		return fmt.Errorf("%w: the send queue is not drained yet", rdma.ErrBusy)
	}
	if mask&rdma.MaskPathMTU != 0 && a.PathMTU > rdma.MTUFor(q.d.c.LinkBytes()) {
		return fmt.Errorf("%w: the link carries %d bytes, too little for a path MTU of %d", rdma.ErrInvalid, q.d.c.LinkBytes(), a.PathMTU.Bytes())
	}
	if mask&rdma.MaskAV != 0 {
		r, err := q.d.resolve(a.AV)
		if err != nil {
			return err
		}
		q.route = r
	}
	q.set(&a, mask)
	was := q.state
	q.note(rdma.QPEvent(a.State))
	q.moved(was)
	return nil
}

// set copies the attributes that are meant.
func (q *queuePair) set(a *rdma.QPAttr, mask rdma.AttrMask) {
	t := &q.attr
	if mask&rdma.MaskAccess != 0 {
		t.Access = a.Access
	}
	if mask&rdma.MaskQKey != 0 {
		t.QKey = a.QKey
	}
	if mask&rdma.MaskAV != 0 {
		t.AV = a.AV
	}
	if mask&rdma.MaskDestQPN != 0 {
		t.DestQPN = a.DestQPN
	}
	if mask&rdma.MaskMaxDestReads != 0 {
		t.MaxDestReads = a.MaxDestReads
	}
	if mask&rdma.MaskMinRNRTimer != 0 {
		t.MinRNRTimer = a.MinRNRTimer
	}
	if mask&rdma.MaskTimeout != 0 {
		t.Timeout = a.Timeout
	}
	if mask&rdma.MaskRetryCount != 0 {
		t.RetryCount = a.RetryCount
	}
	if mask&rdma.MaskRNRRetry != 0 {
		t.RNRRetry = a.RNRRetry
	}
	if mask&rdma.MaskMaxReads != 0 {
		t.MaxReads = a.MaxReads
	}
	if mask&rdma.MaskPathMTU != 0 {
		t.PathMTU, q.mtu = a.PathMTU, a.PathMTU.Bytes()
	}
	if mask&rdma.MaskRQPSN != 0 {
		q.rsp.epsn = a.RQPSN
	}
	if mask&rdma.MaskSQPSN != 0 {
		q.req.startAt(a.SQPSN)
	}
}

// moved does what entering a state means.
func (q *queuePair) moved(from rdma.QPState) {
	switch q.state {
	case rdma.Reset:
		q.drop()
		access := q.attr.QKey
		q.attr = rdma.QPAttr{}
		if q.init.Type == rdma.TypeGSI {
			q.attr.QKey = access
		}
	case rdma.RTR:
		q.rsp.open(int(q.attr.MaxDestReads))
	case rdma.RTS:
		q.attr.Draining = false
		q.req.ready(&q.attr)
		q.d.run(q)
	case rdma.SQD:
		q.rsp.open(int(q.attr.MaxDestReads))
		if from == rdma.RTS {
			q.attr.Draining = true
			q.req.drained(q)
		}
	case rdma.Err:
		if from != rdma.Err {
			q.rsp.answers.Clear()
			q.flushAll()
		}
	case rdma.Init, rdma.SQE, rdma.QPStates:
	}
}

func (q *queuePair) Query() rdma.QPAttr {
	a := q.attr
	a.State, a.RQPSN, a.SQPSN = q.state, q.rsp.epsn, q.req.next
	return a
}

func (q *queuePair) Destroy() error {
	q.end()
	return nil
}

// end gives everything back.
func (q *queuePair) end() {
	if q.gone {
		return
	}
	q.gone = true
	q.drop()
	d := q.d
	delete(d.qps, q.num)
	d.all = slices.DeleteFunc(d.all, func(x *queuePair) bool { return x == q })
	d.events = slices.DeleteFunc(d.events, func(e rdma.Event) bool { return e.QP == rdma.QP(q) })
	for _, r := range d.rkeys {
		if r.mw != nil && r.mw.qp == q { // the order of the map makes no difference
			r.mw.close()
		}
	}
	q.pd.users--
	q.scq.users--
	q.rcq.users--
}

// drop forgets everything that is posted, without completions.
func (q *queuePair) drop() {
	q.req.drop(q)
	q.dropRecvs()
	q.rsp = responder{}
	q.last = false
}

// resolve finds the way that an address vector means, afresh.
func (d *Device) resolve(a rdma.AHAttr) (carrier.Route, error) {
	if a.SGIDIndex != 0 {
		return carrier.Route{}, fmt.Errorf("%w: no GID with index %d", rdma.ErrInvalid, a.SGIDIndex)
	}
	port := a.Port
	if port == 0 {
		port = rdma.RoCEPort
	}
	to := netip.AddrPortFrom(a.DGID.IP(), port)
	if to.Addr().Is4() != d.c.Local().Addr().Is4() {
		return carrier.Route{}, fmt.Errorf("%w: %v and %v are of different families", rdma.ErrInvalid, d.c.Local().Addr(), to.Addr())
	}
	r, err := d.c.Resolve(to, a.FlowLabel)
	if err != nil {
		return carrier.Route{}, err
	}
	r.TrafficClass, r.HopLimit = a.TrafficClass, a.HopLimit
	if r.HopLimit == 0 {
		r.HopLimit = 64
	}
	return r, nil
}

// handle is an address handle.
type handle struct {
	pd    *pd
	attr  rdma.AHAttr
	route carrier.Route
	gone  bool
}

func (p *pd) CreateAH(a rdma.AHAttr) (rdma.AH, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	r, err := p.d.resolve(a)
	if err != nil {
		return nil, err
	}
	p.users++
	return &handle{pd: p, attr: a, route: r}, nil
}

func (h *handle) Attr() rdma.AHAttr { return h.attr }
func (h *handle) MAC() rdma.MAC     { return h.route.MAC }

// Destroy is never busy: a posted send has a copy of the route.
func (h *handle) Destroy() error {
	if !h.gone {
		h.gone = true
		h.pd.users--
	}
	return nil
}
