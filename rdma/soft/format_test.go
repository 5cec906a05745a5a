package soft_test

import (
	"fmt"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// TestFormat: no verb shows keys, or the insides of a device that somebody else may be using.
func TestFormat(t *testing.T) {
	d := newWorld(1, fabric.Config{}).open(t, "10.0.0.1:4791")
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	mr, err := pd.RegMR(make([]byte, 64), 0)
	if err != nil {
		t.Fatal(err)
	}
	mw, err := pd.AllocMW(rdma.Window1)
	if err != nil {
		t.Fatal(err)
	}
	cq, err := d.CreateCQ(4)
	if err != nil {
		t.Fatal(err)
	}
	qp, err := pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: cq, RecvCQ: cq, Cap: rdma.QPCap{SendBlocks: 4, RecvWR: 1, SendSGE: 1, RecvSGE: 1}})
	if err != nil {
		t.Fatal(err)
	}
	ah, err := pd.CreateAH(rdma.AHAttr{DGID: d.GIDs()[0].GID})
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[any]string{
		d: "RDMA device soft at 10.0.0.1:4791", pd: "protection domain of RDMA device soft at 10.0.0.1:4791", mr: "memory region of 64 bytes", mw: "memory window of type 1",
		cq: "completion queue of 4", qp: fmt.Sprintf("queue pair %d in RESET", qp.Num()), ah: "address handle to 10.0.0.1:4791",
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
			if got := fmt.Sprintf(verb, what); got != want {
				t.Errorf("%s: %.100q, want %q", verb, got, want)
			}
		}
	}
}
