package soft

import (
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/pace"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// requester is the half of a queue pair that sends what is posted.
type requester struct {
	ring  ring.Ring
	slots []slot
	life  uint32 // of the ring: grows with each RESET

	una  uint32 // first packet that is not acknowledged
	high uint32 // behind the last that was ever sent
	next uint32 // the first that no work request has
	off  uint32 // packets of the work request at ring.Send that need not be sent

	w       ring.WQE // the work request at loaded
	loaded  uint16
	valid   bool
	scratch ring.WQE // the one that is being posted

	reads  pace.Segments
	flow   pace.Flow
	credit pace.Credit
	rtt    pace.RTT
	again  again
	timer  *timer.Timer
	quiet  int // packets since an acknowledgement was asked for
}

// again is what is left of patience.
type again struct {
	retries, rnrs uint8
	probes, backs int           // since una moved
	notBefore     time.Duration // not before; 0: now
	moved         time.Duration // when una moved last, something was sent after nothing was under way, or all was sent again
	spent         time.Duration // when patience was used up last, or was as new
	backAt        uint32        // una when a gap in the answers made it go back
	back          bool
}

// slot is how far a work request is: it stands beside the first of its blocks.
type slot struct {
	first  uint32 // its first packet number
	n      uint32 // how many it has; 0 for local operations
	begun  bool
	status rdma.WCStatus // why it can't be run
	mw     *window       // of a bind
	mr     *region
}

func (r *requester) open(q *queuePair) {
	r.ring.Open(q.init.Cap.SendBlocks, q.d.cfg.FirstBlock)
	r.slots = make([]slot, r.ring.Blocks())
	r.timer = timer.New(func() { r.expired(q) })
	r.flow = pace.NewFlow(q.d.cfg.Window)
}

// slot is how far the work request at an index is.
func (r *requester) slot(i uint16) *slot { return &r.slots[r.ring.At(i)] }

func (r *requester) startAt(psn uint32) { r.una, r.high, r.next = psn, psn, psn }

// ready is called with each step to RTS.
func (r *requester) ready(a *rdma.QPAttr) { r.again.retries, r.again.rnrs = a.RetryCount, a.RNRRetry }

// idle says whether nothing is under way.
func (r *requester) idle() bool { return r.una == r.high }

// drop gives everything back, without completions.
func (r *requester) drop(q *queuePair) {
	q.d.timers.Stop(r.timer)
	for !r.ring.Empty() {
		r.release(q)
	}
	first := r.ring.PI
	r.ring.Send, r.ring.Freed = first, first
	*r = requester{ring: r.ring, slots: r.slots, life: r.life + 1, timer: r.timer, flow: pace.NewFlow(q.d.cfg.Window)}
}

// load reads the work request at an index.
func (r *requester) load(q *queuePair, at uint16) *ring.WQE {
	if !r.valid || r.loaded != at {
		r.ring.Get(at, &r.w, q.datagram)
		r.loaded, r.valid = at, true
	}
	return &r.w
}

// release ends the work request at the head of the ring.
func (r *requester) release(q *queuePair) *ring.WQE {
	w := r.load(q, r.ring.Head)
	for _, s := range w.SGE[:w.NSGE] {
		q.pd.use(s, -1)
	}
	if s := r.slot(r.ring.Head); s.mw != nil {
		s.mw.uses--
		s.mr.uses--
		s.mw, s.mr = nil, nil
	}
	r.valid = false
	if r.ring.Send == r.ring.Head {
		r.ring.Send, r.off = r.ring.After(r.ring.Head), 0
	}
	r.ring.Head = r.ring.After(r.ring.Head)
	return w
}

var wcOps = [...]rdma.WCOp{
	rdma.OpWrite: rdma.WCWrite, rdma.OpWriteImm: rdma.WCWrite, rdma.OpSend: rdma.WCSend, rdma.OpSendImm: rdma.WCSend,
	rdma.OpRead: rdma.WCRead, rdma.OpCompareSwap: rdma.WCCompareSwap, rdma.OpFetchAdd: rdma.WCFetchAdd,
	rdma.OpLocalInv: rdma.WCLocalInv, rdma.OpBindMW: rdma.WCBindMW, rdma.OpSendInv: rdma.WCSend,
}

// complete ends the work request at the head of the ring, with a completion if it asked for one or failed.
func (r *requester) complete(q *queuePair, status rdma.WCStatus) {
	w := r.release(q)
	if status == rdma.StatusSuccess && !q.init.SigAll && w.Flags&uint8(rdma.FlagSignaled) == 0 {
		return
	}
	wc := rdma.WC{ID: w.ID, Status: status, Op: wcOps[w.Op], QPNum: q.num}
	if w.Op.Answered() {
		wc.Length = w.Length
	}
	q.scq.push(entry{wc: wc, qp: q, end: r.ring.Head, life: r.life})
}

// advance completes what is done at the head of the ring.
func (r *requester) advance(q *queuePair) {
	for !r.ring.Empty() {
		s := r.slot(r.ring.Head)
		if s.begun && s.status != rdma.StatusSuccess {
			q.failSend(s.status)
			return
		}
		if !s.begun || rdma.PSNDiff(r.una, s.first+s.n) < 0 {
			break
		}
		r.complete(q, rdma.StatusSuccess)
		if q.state.Flushes() {
			return // the completion found no room
		}
	}
	r.skip()
	r.drained(q)
}

// skip leaves out what was acknowledged while it waited to be sent again.
func (r *requester) skip() {
	if r.ring.Send == r.ring.PI {
		return
	}
	if s := r.slot(r.ring.Send); s.begun && rdma.PSNDiff(r.una, s.first+r.off) > 0 {
		r.off = (r.una - s.first) & rdma.MaxNum
	}
}

// drained says once, in SQD, that what was begun is done.
func (r *requester) drained(q *queuePair) {
	if q.state == rdma.SQD && q.attr.Draining && (r.ring.Empty() || !r.slot(r.ring.Head).begun) {
		q.attr.Draining = false
		q.d.event(rdma.Event{Type: rdma.EventSQDrained, QP: q})
	}
}

// back goes back to the first packet that is not acknowledged, if patience is left.
func (r *requester) back(q *queuePair, timeout bool) {
	if r.ring.Empty() || r.idle() {
		return
	}
	// Whoever refuses is alive: that costs patience once in a time-out at most, or a packet that is late a few times in a row would
	// use it up in no time. But it does cost: one packet may never get through.
	if t := rdma.AckTimeout(q.attr.Timeout); timeout || q.d.now-r.again.spent >= t {
		if r.again.retries == 0 {
			q.failSend(rdma.StatusRetryExceeded)
			return
		}
		r.again.retries--
		r.again.spent = q.d.now
	}
	r.again.probes = 0
	q.d.stats.GoBacks++
	r.flow.Lost(timeout)
	r.again.moved = q.d.now
	r.rewind(q)
	// The same packet again and again: something is wrong with it or with the way, and haste makes it worse.
	if r.again.backs++; r.again.backs > patient && !timeout {
		r.hold(q, min(haste<<min(r.again.backs-patient, 10), max(haste, rdma.AckTimeout(q.attr.Timeout)/4)))
	}
}

// After patient times back to one packet each further one waits, for haste and then for twice as long.
const (
	patient = 4
	haste   = 20 * time.Microsecond
)

// hold sends nothing for a while.
func (r *requester) hold(q *queuePair, d time.Duration) {
	r.again.notBefore = q.d.now + d
	q.d.timers.Set(r.timer, r.again.notBefore)
}

// rewind sends again from una on.
func (r *requester) rewind(q *queuePair) {
	r.reads = pace.Segments{}
	r.rtt.Repeated()
	s := r.slot(r.ring.Head)
	r.ring.Send, r.off, r.valid = r.ring.Head, (r.una-s.first)&rdma.MaxNum, false
	q.d.wake(q)
}

// expired is the timer: it is set once and looks when it comes, since most answers come in time.
func (r *requester) expired(q *queuePair) {
	now := q.d.now
	if q.state != rdma.RTS && q.state != rdma.SQD {
		return
	}
	if until := r.again.notBefore; until != 0 {
		if now < until {
			q.d.timers.Set(r.timer, until)
			return
		}
		r.again.notBefore, r.again.moved = 0, now
		q.d.wake(q)
	}
	timeout := rdma.AckTimeout(q.attr.Timeout)
	if r.idle() || timeout == 0 {
		return
	}
	if now >= r.again.moved+timeout {
		q.d.stats.Timeouts++
		r.back(q, true)
		if q.state != rdma.RTS && q.state != rdma.SQD {
			return
		}
	} else if now >= r.again.moved+r.rtt.Probe(r.again.probes, timeout) {
		r.probe(q)
	}
	q.d.timers.Set(r.timer, r.again.moved+r.rtt.Probe(r.again.probes, timeout))
}

// probe sends the last packet once more and asks for an answer. It costs no patience: if the last one or an answer was lost, nothing
// else has to be sent again; if there is a gap before it, the responder says so.
func (r *requester) probe(q *queuePair) {
	r.again.probes++
	last := rdma.PSNAdd(r.high, -1)
	i := r.ring.Head
	for s := r.slot(i); s.n == 0 || rdma.PSNDiff(s.first+s.n, last) <= 0; s = r.slot(i) {
		i = r.ring.After(i)
	}
	if !q.d.tx.room() {
		return
	}
	q.d.stats.Probes++
	send, off, reads := r.ring.Send, r.off, r.reads
	s := r.slot(i)
	r.off = (last - s.first) & rdma.MaxNum
	if r.ring.OpAt(i) == rdma.OpRead { // from its first packet that is not there
		r.off = max(r.off&^(segment-1), uint32(max(0, rdma.PSNDiff(r.una, s.first))))
	}
	r.ring.Send, r.quiet = i, askEvery
	r.rtt.Repeated()
	r.packet(q, r.load(q, i), s)
	r.ring.Send, r.off, r.reads, r.valid = send, off, reads, false
}

// arm makes sure that the timer runs.
func (r *requester) arm(q *queuePair) {
	if timeout := rdma.AckTimeout(q.attr.Timeout); timeout != 0 && !r.timer.Pending() {
		q.d.timers.Set(r.timer, q.d.now+r.rtt.Probe(0, timeout))
	}
}
