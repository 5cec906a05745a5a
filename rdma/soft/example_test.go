package soft_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"net/netip"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// Two devices on a network in memory: a queue pair at each, connected, and a WRITE from one into the other's memory. Over sockets only the carrier is another
// one (udp.Open), the clock is time.Since, and numbers come from crypto/rand.
func Example() {
	net := fabric.New(fabric.Config{})
	a, b := newEnd(net, "10.0.0.1:4791"), newEnd(net, "10.0.0.2:4791")
	a.connect(b)
	b.connect(a)

	copy(a.mr.Bytes(), "hello")
	n, st := a.qp.PostSend([]rdma.SendWR{{
		ID: 7, Op: rdma.OpWrite, Flags: rdma.FlagSignaled,
		SGL:  []rdma.SGE{{Addr: a.mr.Addr(), Length: 5, LKey: a.mr.LKey()}},
		Addr: b.mr.Addr() + 100, RKey: b.mr.RKey(),
	}})
	fmt.Println(n, st)

	// Nothing happens but inside of calls: a turn of a device is Progress, Poll, PollEvents.
	var wc [1]rdma.WC
	for a.cq.Poll(wc[:]) == 0 {
		a.dev.Progress()
		b.dev.Progress()
		net.Step(0)
	}
	fmt.Println(wc[0].ID, wc[0].Op, wc[0].Status)
	fmt.Printf("%s\n", b.mr.Bytes()[100:105])
	for _, e := range []*end{a, b} {
		check(e.dev.Close()) // with all that was made from it
	}
	// Output:
	// 1 posted
	// 7 WRITE success
	// hello
}

// end is a device and what it takes to move bytes.
type end struct {
	dev rdma.Device
	cq  rdma.CQ
	mr  rdma.MR
	qp  rdma.QP
}

func newEnd(net *fabric.Net, addr string) *end {
	port, err := net.Port(netip.MustParseAddrPort(addr))
	check(err)
	dev, err := soft.Open(soft.Config{Carrier: port, Now: net.Now, Rand: rand.Uint64})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	e := &end{dev: dev}
	e.cq, err = dev.CreateCQ(16)
	check(err)
	e.mr, err = pd.RegMR(make([]byte, 4096), rdma.AccessLocalWrite|rdma.AccessRemoteWrite)
	check(err)
	e.qp, err = pd.CreateQP(rdma.QPInit{
		Type: rdma.TypeRC, SendCQ: e.cq, RecvCQ: e.cq, Cap: rdma.QPCap{SendBlocks: 8, RecvWR: 8, SendSGE: 1, RecvSGE: 1},
	})
	check(err)
	return e
}

// firstPSN would be random, and travel with the rest.
const firstPSN = 1000

// connect takes a queue pair to RTS. What it uses of the peer, a program gets by some other way: address, UDP port and queue pair number.
func (e *end) connect(peer *end) {
	check(e.qp.Modify(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemoteWrite}, rdma.MaskAccess))
	check(e.qp.Modify(rdma.QPAttr{
		State:   rdma.RTR,
		AV:      rdma.AHAttr{DGID: peer.dev.GIDs()[0].GID, SGIDIndex: e.dev.GIDs()[0].Index, Port: peer.dev.Port().UDPPort},
		PathMTU: min(e.dev.Port().ActiveMTU, peer.dev.Port().ActiveMTU), DestQPN: peer.qp.Num(), RQPSN: firstPSN, MaxDestReads: 1, MinRNRTimer: 12,
	}, rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer))
	check(e.qp.Modify(rdma.QPAttr{
		State: rdma.RTS, SQPSN: firstPSN, Timeout: 14, RetryCount: 7, RNRRetry: 7, MaxReads: 1,
	}, rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
