package faulty_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/faulty"
	"github.com/openbraid/braid/rdma/rdmatest"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// world is two devices in software on one network, the first with a link in front.
type world struct {
	t     testing.TB
	net   *fabric.Net
	inj   *fault.Injector
	below []*soft.Device
	devs  [2]rdma.Device
}

func newWorld(t testing.TB, all bool) *world {
	w := &world{t: t, net: fabric.New(fabric.Config{Latency: 2000})}
	w.inj = fault.New(func() time.Duration { return w.net.Now() + 1 })
	luck := rand.New(rand.NewPCG(1, 1))
	for i, addr := range []string{"10.0.0.1:4791", "10.0.0.2:4791"} {
		p, err := w.net.Port(netip.MustParseAddrPort(addr))
		if err != nil {
			t.Fatal(err)
		}
		d, err := soft.Open(soft.Config{Carrier: p, Now: w.net.Now, Rand: luck.Uint64})
		if err != nil {
			t.Fatal(err)
		}
		w.below, w.devs[i] = append(w.below, d), d
		if i == 0 || all {
			w.devs[i] = faulty.New(d, w.inj.Adapter(p.Local().Addr().String()))
		}
		t.Cleanup(func() { _ = w.devs[i].Close() })
	}
	return w
}

// tick goes to the next point in time at which anything happens.
func (w *world) tick() {
	next, first := w.net.Now()+1000, true
	for _, d := range w.below {
		if at := d.Deadline(); at != 0 && (first || at < next) {
			next, first = at, false
		}
	}
	w.net.Step(next)
}

// TestConformance: without a rule in force it is the device below.
func TestConformance(t *testing.T) {
	var w *world
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			w = newWorld(t, true)
			return w.devs
		},
		Tick: func() { w.tick() },
	})
}

// end is one end of a connection.
type end struct {
	dev  rdma.Device
	pd   rdma.PD
	cq   rdma.CQ
	qp   rdma.QP
	mr   rdma.MR
	ids  []uint64 // that completed
	last rdma.WC
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) end(i int) *end {
	e := &end{dev: w.devs[i]}
	var err error
	e.pd, err = e.dev.AllocPD()
	w.must(err)
	e.cq, err = e.dev.CreateCQ(64)
	w.must(err)
	e.mr, err = e.pd.RegMR(make([]byte, 4096), rdma.AccessLocalWrite)
	w.must(err)
	e.qp, err = e.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: e.cq, RecvCQ: e.cq, Cap: rdma.QPCap{SendBlocks: 64, RecvWR: 32, SendSGE: 1, RecvSGE: 1, Inline: 16}})
	w.must(err)
	return e
}

// connect connects two ends, and gives each receives.
func (w *world) connect() (a, b *end) {
	a, b = w.end(0), w.end(1)
	for _, p := range [][2]*end{{a, b}, {b, a}} {
		own, peer := p[0], p[1]
		w.must(own.qp.Modify(rdma.QPAttr{State: rdma.Init}, rdma.MaskAccess))
		w.must(own.qp.Modify(rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: peer.dev.GIDs()[0].GID}, PathMTU: rdma.MTU1024, DestQPN: peer.qp.Num(), MinRNRTimer: 1},
			rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer))
		w.must(own.qp.Modify(rdma.QPAttr{State: rdma.RTS, Timeout: 14, RetryCount: 7, RNRRetry: 7},
			rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads))
		for i := range 16 {
			own.qp.PostRecv([]rdma.RecvWR{{ID: uint64(1000 + i), SGL: []rdma.SGE{{Addr: own.mr.Addr(), Length: 64, LKey: own.mr.LKey()}}}})
		}
	}
	return a, b
}

// send posts a message of the end's, with its number in it; what was handed in is the caller's again.
func (w *world) send(e *end, id uint64) {
	w.t.Helper()
	body := []byte{byte(id)}
	wrs := []rdma.SendWR{{ID: id, Op: rdma.OpSend, Flags: rdma.FlagSignaled, Inline: body}}
	if n, st := e.qp.PostSend(wrs); n != 1 || st != rdma.Posted {
		w.t.Fatal(n, st)
	}
	body[0], wrs[0] = 0xff, rdma.SendWR{}
}

// run lets the devices work for so long, and takes what completes.
func (w *world) run(d time.Duration, ends ...*end) {
	for until := w.net.Now() + d; w.net.Now() < until; w.tick() {
		for _, e := range ends {
			e.dev.Progress()
			var wcs [8]rdma.WC
			for _, wc := range wcs[:e.cq.Poll(wcs[:])] {
				e.ids, e.last = append(e.ids, wc.ID), wc
			}
		}
	}
}

func (w *world) apply(text string) {
	w.t.Helper()
	r, err := fault.Parse(text)
	w.must(err)
	w.inj.Apply(r)
}

// TestSilence: what is posted waits, and so does what came; when it is over both go on, in their order.
func TestSilence(t *testing.T) {
	w := newWorld(t, false)
	a, b := w.connect()
	w.apply("cut kind=silence for=1ms")
	for i := range uint64(3) {
		w.send(a, i)
		w.send(b, i)
	}
	w.run(900*time.Microsecond, a, b)
	if len(a.ids) != 0 || len(b.ids) != 3 || b.last.ID != 2 { // b's sends are taken by the adapter below
		t.Errorf("in the silence: %v here, %v there", a.ids, b.ids)
	}
	w.inj.Advance()
	w.run(time.Millisecond, a, b)
	if want := 6; len(a.ids) != want || len(b.ids) != want {
		t.Fatalf("after it: %v here, %v there", a.ids, b.ids)
	}
	for i, id := range b.ids[3:] {
		if id != uint64(1000+i) {
			t.Errorf("received there: %v", b.ids)
		}
	}
	if b.mr.Bytes()[0] != 2 {
		t.Errorf("the last message is %d: what waited was not copied", b.mr.Bytes()[0])
	}
}

// TestSilenceEnds: what waits of a queue pair that goes to ERR ends there, once each, and what came before is handed out; of one that is destroyed nothing is left.
func TestSilenceEnds(t *testing.T) {
	w := newWorld(t, false)
	a, b := w.connect()
	w.apply("cut kind=silence")
	w.send(b, 7)
	w.run(100*time.Microsecond, a, b)
	w.send(a, 1)
	w.send(a, 2)
	w.must(a.qp.Modify(rdma.QPAttr{State: rdma.Err}, 0))
	w.send(a, 3)
	w.run(time.Millisecond, a, b)
	flushed := map[uint64]int{}
	for _, id := range a.ids {
		flushed[id]++
	}
	if flushed[1] != 1 || flushed[2] != 1 || flushed[3] != 1 || flushed[1000] != 1 || len(a.ids) != 3+16 {
		t.Errorf("ended: %v", a.ids)
	}
	w.must(a.qp.Destroy())
	w.must(a.cq.Destroy())
}

// TestReset: the port is down while it is in force, and says so.
func TestReset(t *testing.T) {
	w := newWorld(t, false)
	a, _ := w.connect()
	says := func(want rdma.EventType, state rdma.PortState) {
		t.Helper()
		var ev [4]rdma.Event
		if n := a.dev.PollEvents(ev[:]); n != 1 || ev[0].Type != want || a.dev.Port().State != state {
			t.Errorf("%d events, %v, port %v; want %v, %v", n, ev[0].Type, a.dev.Port().State, want, state)
		}
		if n := a.dev.PollEvents(ev[:]); n != 0 {
			t.Errorf("and again: %v", ev[:n])
		}
	}
	w.apply("cut kind=reset for=1ms")
	says(rdma.EventPortDown, rdma.PortDown)
	w.run(2*time.Millisecond, a)
	w.inj.Advance()
	says(rdma.EventPortActive, rdma.PortActive)
}
