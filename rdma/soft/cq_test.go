package soft_test

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// TestOverrunIsTheEnd: a completion queue that has lost a completion takes no queue pair any more, neither a new one nor one that begins
// anew: what completes there would be lost in silence.
func TestOverrunIsTheEnd(t *testing.T) {
	w := newWorld(1, fabric.Config{})
	l := connect(t, w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), 4096)
	d := l.dev[0]
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	var cq [2]rdma.CQ
	for i, depth := range []int{2, 64} {
		if cq[i], err = d.CreateCQ(depth); err != nil {
			t.Fatal(err)
		}
	}
	shape := rdma.QPInit{Type: rdma.TypeRC, SendCQ: cq[1], RecvCQ: cq[0], Cap: rdma.QPCap{SendBlocks: 8, RecvWR: 8, RecvSGE: 1}}
	var qps [3]rdma.QP
	for i := range qps { // the second one is in RESET all the time, the third one only has its receives there
		if qps[i], err = pd.CreateQP(shape); err != nil {
			t.Fatal(err)
		}
	}
	to := func(q rdma.QP, s rdma.QPState) error {
		if s != rdma.Init {
			return q.Modify(rdma.QPAttr{State: s}, 0)
		}
		return q.Modify(rdma.QPAttr{State: s}, rdma.MaskAccess)
	}
	for _, i := range []int{0, 2} {
		if err := to(qps[i], rdma.Init); err != nil {
			t.Fatal(err)
		}
	}
	if n, st := qps[0].PostRecv(make([]rdma.RecvWR, 3)); n != 3 {
		t.Fatal(n, st)
	}
	if err := to(qps[0], rdma.Err); err != nil { // three are flushed, two have room
		t.Fatal(err)
	}
	if got := events(d); got[0] != rdma.EventCQOverrun || qps[2].State() != rdma.Err {
		t.Fatalf("events %v, a queue pair that did nothing is in %v", got, qps[2].State())
	}
	var wc [4]rdma.WC
	if n := cq[0].Poll(wc[:]); n != 2 {
		t.Errorf("%d completions, want 2", n)
	}
	for _, i := range []int{0, 2} {
		if err := to(qps[i], rdma.Reset); err != nil {
			t.Fatal(err)
		}
	}
	for i, q := range qps {
		if err := to(q, rdma.Init); !errors.Is(err, rdma.ErrInvalid) {
			t.Errorf("queue pair %d begins: %v", i, err)
		}
	}
	for _, s := range []rdma.QPInit{shape, {Type: rdma.TypeRC, SendCQ: cq[0], RecvCQ: cq[1]}} {
		if _, err := pd.CreateQP(s); !errors.Is(err, rdma.ErrInvalid) {
			t.Errorf("a new queue pair: %v", err)
		}
	}
}

// TestNoAnswerForWhatWasLost: a message whose completion found no room is not acknowledged: its sender must not believe that somebody has it.
func TestNoAnswerForWhatWasLost(t *testing.T) {
	l := newLab(t)
	q := l.l.qp[1]
	room := l.l.cq[1].Depth()
	for ; room > 0; room -= 256 {
		if n, st := q.PostRecv(make([]rdma.RecvWR, 256)); n != 256 {
			t.Fatal(n, st)
		}
		for _, s := range []rdma.QPState{rdma.Err, rdma.Reset} {
			if err := q.Modify(rdma.QPAttr{State: s}, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.l.qp[0].Modify(rdma.QPAttr{State: rdma.Reset}, 0); err != nil {
			t.Fatal(err)
		}
		l.l.join(t)
	}
	if _, st := q.PostRecv(make([]rdma.RecvWR, 1)); st != rdma.Posted {
		t.Fatal(st)
	}
	spy := &witness{}
	l.w.net.Watch(spy.see)
	l.inject(l.peer, &packet.Packet{Opcode: packet.SendOnly, DestQP: q.Num(), AckReq: true})
	if len(spy.answers) > 0 || q.State() != rdma.Err {
		t.Errorf("answered %v in %v", spy.answers, q.State())
	}
}

// TestBlocksOfAnEarlierLife: completions of before a RESET, polled after it, leave the send ring as it is.
func TestBlocksOfAnEarlierLife(t *testing.T) {
	l := newLab(t)
	q := l.l.qp[1]
	for psn := range uint32(3) {
		l.asks(t, rdma.OpWrite, 8)
		l.answers(packet.Packet{Opcode: packet.Acknowledge, PSN: psn, Syndrome: packet.Ack(-1)})
	}
	for i := range l.l.qp {
		if err := l.l.qp[i].Modify(rdma.QPAttr{State: rdma.Reset}, 0); err != nil {
			t.Fatal(err)
		}
	}
	l.l.join(t)
	for range 10 {
		l.asks(t, rdma.OpWrite, 8)
	}
	if n := l.l.cq[1].Poll(l.l.wc[:1]); n != 1 {
		t.Fatal("no completion")
	}
	for range 246 {
		l.asks(t, rdma.OpWrite, 8)
	}
	if _, st := q.PostSend([]rdma.SendWR{{Op: rdma.OpWrite}}); st != rdma.Full {
		t.Errorf("more than 256 blocks: %v", st)
	}
}
