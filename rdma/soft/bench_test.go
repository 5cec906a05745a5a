package soft_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// link is a connection between two devices that one goroutine turns.
type link struct {
	dev [2]*soft.Device
	qp  [2]rdma.QP
	cq  [2]rdma.CQ
	mr  [2]rdma.MR
	wc  [16]rdma.WC
	wr  []rdma.SendWR

	idle int // turns without a completion
}

func connect(tb testing.TB, a, b *soft.Device, bytes int) *link {
	l := &link{dev: [2]*soft.Device{a, b}, wr: make([]rdma.SendWR, 1)}
	must := func(err error) {
		if err != nil {
			tb.Fatal(err)
		}
	}
	for i, d := range l.dev {
		pd, err := d.AllocPD()
		must(err)
		l.cq[i], err = d.CreateCQ(4096)
		must(err)
		l.mr[i], err = pd.RegMR(make([]byte, bytes), rdma.AccessLocalWrite|rdma.AccessRemote)
		must(err)
		l.qp[i], err = pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: l.cq[i], RecvCQ: l.cq[i],
			Cap: rdma.QPCap{SendBlocks: 256, RecvWR: 256, SendSGE: 1, RecvSGE: 1, Inline: 64}})
		must(err)
	}
	l.join(tb)
	return l
}

// join brings the queue pairs from RESET to RTS.
func (l *link) join(tb testing.TB) {
	tb.Helper()
	for i := range l.qp {
		l.ready(tb, i, 0)
	}
}

// ready connects one side, which expects psn first.
func (l *link) ready(tb testing.TB, i int, psn uint32) {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	q, peer := l.qp[i], l.dev[1-i]
	must(q.Modify(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess))
	must(q.Modify(rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(peer.Addr().Addr()), Port: peer.Addr().Port()},
		PathMTU: min(rdma.MTU4096, peer.Port().ActiveMTU), DestQPN: l.qp[1-i].Num(), RQPSN: psn, MaxDestReads: 16, MinRNRTimer: 1},
		rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer))
	must(q.Modify(rdma.QPAttr{State: rdma.RTS, Timeout: 14, RetryCount: 7, RNRRetry: 7, MaxReads: 16},
		rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
}

// post posts a signaled WRITE of n bytes of side i.
func (l *link) post(tb testing.TB, i, n int) {
	l.wr[0] = rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, SGL: l.wr[0].SGL[:0], RKey: l.mr[1-i].RKey(), Addr: l.mr[1-i].Addr()}
	l.wr[0].SGL = append(l.wr[0].SGL, rdma.SGE{Addr: l.mr[i].Addr(), Length: uint32(n), LKey: l.mr[i].LKey()})
	if _, st := l.qp[i].PostSend(l.wr); st != rdma.Posted {
		tb.Fatal(st)
	}
}

// turn polls side i and returns how many completed well.
func (l *link) turn(tb testing.TB, i int) int {
	l.dev[0].Progress()
	l.dev[1].Progress()
	n := l.cq[i].Poll(l.wc[:])
	for _, wc := range l.wc[:n] {
		if wc.Status != rdma.StatusSuccess {
			tb.Fatal(wc)
		}
	}
	if l.idle++; n > 0 {
		l.idle = 0
	} else if l.idle > 20_000_000 { // seconds at the least, over sockets as in memory
		tb.Fatalf("side %d waited for a completion\n%s", i, l.waits())
	}
	return n
}

// waits is who waits for what.
func (l *link) waits() (s string) {
	for i, q := range l.qp {
		s += fmt.Sprintf("side %d: %+v\n        %+v\n", i, q.Query(), l.dev[i].Stats())
	}
	return s
}

// write does one WRITE after the other, depth at a time.
func (l *link) write(b *testing.B, n, depth int) {
	b.SetBytes(int64(n))
	b.ReportAllocs()
	posted, done := 0, 0
	for b.Loop() {
		if posted-done == depth {
			for done == posted-depth {
				done += l.turn(b, 0)
			}
		}
		l.post(b, 0, n)
		posted++
	}
	for done < posted {
		done += l.turn(b, 0)
	}
	if s := l.dev[0].Stats(); s.GoBacks > 0 {
		b.ReportMetric(float64(s.GoBacks)/float64(b.N), "goback/op")
	}
}

func BenchmarkFabric(b *testing.B) {
	for _, s := range []struct{ n, depth int }{{8, 1}, {8, 64}, {4096, 16}, {1 << 20, 4}} {
		b.Run(fmt.Sprintf("%d/%d", s.n, s.depth), func(b *testing.B) {
			w := newWorld(1, fabric.Config{})
			p, q := w.bare(b, "10.0.0.1:1"), w.bare(b, "10.0.0.2:1")
			connect(b, p, q, 1<<20).write(b, s.n, s.depth)
		})
	}
}

// bare opens a device without faults in front of it.
func (w *world) bare(t testing.TB, addr string) *soft.Device {
	t.Helper()
	p, err := w.net.Port(netip.MustParseAddrPort(addr))
	if err != nil {
		t.Fatal(err)
	}
	d, err := soft.Open(soft.Config{Carrier: p, Now: w.net.Now, Rand: w.rand.Uint64})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
