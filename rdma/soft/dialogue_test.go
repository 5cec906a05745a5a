package soft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// story is one work request, and what is lost of its packets.
type story struct {
	name  string
	ours  []carrier.Rule // what the requester's side loses
	peers []carrier.Rule // what the responder's side loses
	bytes uint32
	wr    rdma.SendWR
	late  time.Duration // when the receive is posted; 0: before
}

func stories() []story {
	lose := func(op packet.Opcode) carrier.Rule { return carrier.Rule{Opcode: &op, Share: 1, Count: 1, Drop: true} }
	write := rdma.SendWR{Op: rdma.OpWrite}
	return []story{
		{name: "a WRITE", bytes: 3000, wr: write},
		{name: "a WRITE, its second packet is lost", ours: []carrier.Rule{lose(packet.WriteMiddle)}, bytes: 3000, wr: write},
		{name: "a WRITE, its last packet is lost", ours: []carrier.Rule{lose(packet.WriteLast)}, bytes: 3000, wr: write},
		{name: "a WRITE, its acknowledgement is lost", peers: []carrier.Rule{lose(packet.Acknowledge)}, bytes: 1000, wr: write},
		{name: "a READ, an answer is lost", peers: []carrier.Rule{lose(packet.ReadMiddle)}, bytes: 4000, wr: rdma.SendWR{Op: rdma.OpRead}},
		{name: "a READ of more than is asked for at a time", bytes: 20000, wr: rdma.SendWR{Op: rdma.OpRead}},
		{name: "a READ in pieces, an answer of the first is lost", peers: []carrier.Rule{lose(packet.ReadMiddle)}, bytes: 20000, wr: rdma.SendWR{Op: rdma.OpRead}},
		{name: "a WRITE, its second packet and the refusal are lost", ours: []carrier.Rule{lose(packet.WriteMiddle)}, peers: []carrier.Rule{lose(packet.Acknowledge)},
			bytes: 3000, wr: write},
		{name: "an atomic, its result is lost", peers: []carrier.Rule{lose(packet.AtomicAck)}, bytes: 8, wr: rdma.SendWR{Op: rdma.OpFetchAdd, CompareAdd: 1}},
		{name: "a SEND, and no receive yet", bytes: 3000, wr: rdma.SendWR{Op: rdma.OpSend}, late: 50 * time.Microsecond},
		{name: "a WRITE beyond the region", bytes: 5000, wr: rdma.SendWR{Op: rdma.OpWrite, Addr: 1 << 20}},
	}
}

// TestDialogues: short stories, packet by packet, as golden text: what was asked, what was lost, and what followed.
func TestDialogues(t *testing.T) {
	var got strings.Builder
	for _, c := range stories() {
		fmt.Fprintf(&got, "%s\n", c.name)
		w := newWorld(11, fabric.Config{Latency: 5 * time.Microsecond, LinkBytes: 1500})
		x, y := w.open(t, "10.0.0.1:5001", c.ours...), w.open(t, "10.0.0.2:5002", c.peers...)
		l := connect(t, x, y, 32<<10)
		begin := w.net.Now()
		w.net.Watch(func(at time.Duration, f packet.Flow, b []byte) {
			var p packet.Packet
			if err := p.Parse(b); err != nil {
				t.Fatal(err)
			}
			p.DestQP = 0 // random
			arrow := "──>"
			if f.Src == y.Addr() {
				arrow = "<──"
			}
			fmt.Fprintf(&got, "  %9s %s %s\n", at-begin, arrow, strings.Replace(p.String(), "qp 0x000000 ", "", 1))
		})
		wr := c.wr
		wr.Flags, wr.RKey, wr.Addr = rdma.FlagSignaled, l.mr[1].RKey(), wr.Addr+l.mr[1].Addr()
		wr.SGL = []rdma.SGE{{Addr: l.mr[0].Addr(), Length: c.bytes, LKey: l.mr[0].LKey()}}
		fed := false
		feed := func() {
			if !fed && w.net.Now()-begin >= c.late {
				fed = true
				_, _ = l.qp[1].PostRecv([]rdma.RecvWR{{SGL: []rdma.SGE{{Addr: l.mr[1].Addr(), Length: 4096, LKey: l.mr[1].LKey()}}}})
			}
		}
		feed()
		if _, st := l.qp[0].PostSend([]rdma.SendWR{wr}); st != rdma.Posted {
			t.Fatal(st)
		}
		st := l.status(t, func() { w.tick(); feed() })
		fmt.Fprintf(&got, "  %9s     %v\n\n", w.net.Now()-begin, st)
	}
	golden.Same(t, "testdata/dialogues.txt", got.String())
}
