package soft_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// results remembers the answers to atomics that pass: what stood in the word before.
type results struct{ seen map[uint32][]uint64 }

func (r *results) see(_ time.Duration, _ packet.Flow, b []byte) {
	var p packet.Packet
	if p.Parse(b) == nil && p.Opcode == packet.AtomicAck {
		r.seen[p.PSN] = append(r.seen[p.PSN], p.Orig)
	}
}

// TestAtomicsAskedForAgain: an atomic that comes a second time gets the result of the first time, also when its memory is gone by then. The last ones are
// kept, as many as were agreed (MaxDestReads); what is older is dropped in silence, and is not executed either: the requester has to give up.
func TestAtomicsAskedForAgain(t *testing.T) {
	const agreed, extra = 16, 5
	for _, start := range []uint32{0, rdma.MaxNum - 9} {
		t.Run(fmt.Sprintf("from %#x", start), func(t *testing.T) {
			l := newLab(t)
			q, mr := l.l.qp[1], l.l.mr[1]
			for _, s := range []rdma.QPAttr{{State: rdma.Err}, {State: rdma.Reset}} {
				if err := q.Modify(s, 0); err != nil {
					t.Fatal(err)
				}
			}
			l.l.ready(t, 1, start)
			spy := results{seen: map[uint32][]uint64{}}
			l.w.net.Watch(spy.see)
			ask := func(i int) {
				l.inject(l.peer, &packet.Packet{Opcode: packet.FetchAdd, DestQP: q.Num(), PSN: rdma.PSNAdd(start, i), RKey: mr.RKey(), VA: mr.Addr(), Swap: 10, AckReq: true})
			}
			for i := range agreed + extra {
				ask(i)
			}
			if err := mr.Deregister(); err != nil { // a result is no access
				t.Fatal(err)
			}
			before := q.Query().RQPSN
			for i := range agreed + extra {
				ask(i)
				want := []uint64{uint64(10 * i), uint64(10 * i)}
				if i < extra {
					want = want[:1]
				}
				if got := spy.seen[rdma.PSNAdd(start, i)]; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("number %d was answered %v, want %v", i, got, want)
				}
			}
			if q.State() != rdma.RTS || q.Query().RQPSN != before {
				t.Errorf("state %v, position %#x, was %#x", q.State(), q.Query().RQPSN, before)
			}
			if n := l.l.dev[1].Stats().Duplicates; n != agreed+extra {
				t.Errorf("%d counted as repeated", n)
			}
		})
	}
}

// TestReadsAskedForAgain: a READ that comes a second time is read again, whatever came between: there is no cache that it could be too old for. One that was never
// asked for as a whole is dropped.
func TestReadsAskedForAgain(t *testing.T) {
	l := newLab(t)
	q, mr := l.l.qp[1], l.l.mr[1]
	answers := map[uint32]int{}
	l.w.net.Watch(func(_ time.Duration, _ packet.Flow, b []byte) {
		var p packet.Packet
		if p.Parse(b) == nil && p.Opcode == packet.ReadOnly {
			answers[p.PSN]++
		}
	})
	ask := func(psn, n uint32) {
		l.inject(l.peer, &packet.Packet{Opcode: packet.ReadRequest, DestQP: q.Num(), PSN: psn, RKey: mr.RKey(), VA: mr.Addr(), Len: n})
	}
	for i := range uint32(50) {
		ask(i, 100)
	}
	for i := range uint32(50) {
		ask(i, 100)
		if answers[i] != 2 {
			t.Errorf("number %d was answered %d times, want 2", i, answers[i])
		}
	}
	ask(49, 4096+1) // its second packet would be one that has not come yet
	if q.State() != rdma.RTS || len(answers) != 50 || answers[49] != 2 || q.Query().RQPSN != 50 {
		t.Errorf("state %v, position %d, %d answers to the last", q.State(), q.Query().RQPSN, answers[49])
	}
}

// TestResultLostForGood: an atomic whose result is lost until the requester gives up was executed once, and nobody can tell its result any more.
func TestResultLostForGood(t *testing.T) {
	op := packet.AtomicAck
	w := newWorld(13, fabric.Config{Latency: time.Microsecond})
	l := connect(t, w.open(t, "10.0.0.1:5001"), w.open(t, "10.0.0.2:5002", carrier.Rule{Opcode: &op, Share: 1, Drop: true}), 4096)
	wr := rdma.SendWR{Op: rdma.OpFetchAdd, Flags: rdma.FlagSignaled, CompareAdd: 1, RKey: l.mr[1].RKey(), Addr: l.mr[1].Addr(),
		SGL: []rdma.SGE{{Addr: l.mr[0].Addr(), Length: 8, LKey: l.mr[0].LKey()}}}
	if _, st := l.qp[0].PostSend([]rdma.SendWR{wr}); st != rdma.Posted {
		t.Fatal(st)
	}
	if st := l.status(t, w.tick); st != rdma.StatusRetryExceeded {
		t.Errorf("%v", st)
	}
	if v := binary.NativeEndian.Uint64(l.mr[1].Bytes()); v != 1 || l.qp[1].Query().RQPSN != 1 {
		t.Errorf("the word is %d, the position %d: executed once", v, l.qp[1].Query().RQPSN)
	}
}
