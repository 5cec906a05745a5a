package soft_test

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/fabric"
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
	var qps [2]rdma.QP
	for i := range qps { // the second one is in RESET all the time
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
	if err := to(qps[0], rdma.Init); err != nil {
		t.Fatal(err)
	}
	if n, st := qps[0].PostRecv(make([]rdma.RecvWR, 3)); n != 3 {
		t.Fatal(n, st)
	}
	if err := to(qps[0], rdma.Err); err != nil { // three are flushed, two have room
		t.Fatal(err)
	}
	if got := events(d); len(got) != 2 || got[0] != rdma.EventCQOverrun {
		t.Fatalf("events %v", got)
	}
	var wc [4]rdma.WC
	if n := cq[0].Poll(wc[:]); n != 2 {
		t.Errorf("%d completions, want 2", n)
	}
	if err := to(qps[0], rdma.Reset); err != nil {
		t.Fatal(err)
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
