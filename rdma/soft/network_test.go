package soft_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// events takes what a device has to say.
func events(d *soft.Device) (types []rdma.EventType) {
	var ev [16]rdma.Event
	for n := d.PollEvents(ev[:]); n > 0; n = d.PollEvents(ev[:]) {
		for _, e := range ev[:n] {
			types = append(types, e.Type)
		}
	}
	return types
}

// status turns until side 0 has a completion.
func (l *link) status(t testing.TB, tick func()) rdma.WCStatus {
	t.Helper()
	for range 100000 {
		l.dev[0].Progress()
		l.dev[1].Progress()
		if n := l.cq[0].Poll(l.wc[:1]); n == 1 {
			return l.wc[0].Status
		}
		tick()
	}
	t.Fatalf("no completion\n%s", l.waits())
	return 0
}

// TestCrowded: a requester that asks for more at a time than was agreed is served all the same, once and in order: what is too much is dropped as if it had been lost.
func TestCrowded(t *testing.T) {
	w := newWorld(3, fabric.Config{Latency: time.Microsecond})
	x, y := w.open(t, "10.0.0.1:5001"), w.open(t, "10.0.0.2:5002")
	l := connect(t, x, y, 4096)
	for _, s := range []struct {
		a rdma.QPAttr
		m rdma.AttrMask
	}{{rdma.QPAttr{State: rdma.SQD}, 0}, {rdma.QPAttr{State: rdma.SQD, MaxDestReads: 1}, rdma.MaskMaxDestReads}, {rdma.QPAttr{State: rdma.RTS}, 0}} {
		if err := l.qp[1].Modify(s.a, s.m); err != nil {
			t.Fatal(err)
		}
	}
	const n = 12
	var wrs [n]rdma.SendWR
	for i := range wrs {
		wrs[i] = rdma.SendWR{ID: uint64(i), Op: rdma.OpFetchAdd, Flags: rdma.FlagSignaled, CompareAdd: 1, RKey: l.mr[1].RKey(), Addr: l.mr[1].Addr(),
			SGL: []rdma.SGE{{Addr: l.mr[0].Addr() + uint64(8*i), Length: 8, LKey: l.mr[0].LKey()}}}
	}
	if k, st := l.qp[0].PostSend(wrs[:]); k != n {
		t.Fatal(k, st)
	}
	for range n {
		if st := l.status(t, w.tick); st != rdma.StatusSuccess {
			t.Fatal(st)
		}
	}
	for i := range n {
		if v := binary.NativeEndian.Uint64(l.mr[0].Bytes()[8*i:]); v != uint64(i) {
			t.Errorf("number %d fetched %d", i, v)
		}
	}
	if y.Stats().Crowded == 0 {
		t.Error("nothing was too much: this proves nothing")
	}
}

// TestMove: an address that moves to another MAC is lost for a connection that was resolved before, is announced, and is
// found by one that is made again. A device that kept what it had resolved would fail here.
func TestMove(t *testing.T) {
	w := newWorld(1, fabric.Config{Latency: time.Microsecond})
	l := connect(t, w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), 4096)
	w.devs = l.dev[:]
	l.post(t, 0, 8)
	if st := l.status(t, w.tick); st != rdma.StatusSuccess {
		t.Fatal(st)
	}
	pd, err := l.dev[0].AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	to := rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr("10.0.0.2")), Port: 5002}
	before, err := pd.CreateAH(to)
	if err != nil {
		t.Fatal(err)
	}
	mac := w.net.Move(netip.MustParseAddr("10.0.0.2"))
	l.dev[0].Progress()
	var ev [4]rdma.Event
	if n := l.dev[0].PollEvents(ev[:]); n != 1 || ev[0].Type != rdma.EventNeighbour || ev[0].GID != to.DGID {
		t.Errorf("%v", ev[:n])
	}
	after, err := pd.CreateAH(to)
	if err != nil {
		t.Fatal(err)
	}
	if before.MAC() == mac || after.MAC() != mac || l.dev[1].Port().MAC != mac {
		t.Errorf("handles to %v, then %v; the port is %v, want %v", before.MAC(), after.MAC(), l.dev[1].Port().MAC, mac)
	}
	l.post(t, 0, 8)
	if st := l.status(t, w.tick); st != rdma.StatusRetryExceeded {
		t.Fatalf("to where nobody is any more: %v", st)
	}
	for _, q := range l.qp {
		if q.State() != rdma.Err {
			if err := q.Modify(rdma.QPAttr{State: rdma.Err}, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Modify(rdma.QPAttr{State: rdma.Reset}, 0); err != nil {
			t.Fatal(err)
		}
	}
	l.join(t)
	l.post(t, 0, 8)
	if st := l.status(t, w.tick); st != rdma.StatusSuccess {
		t.Fatalf("connected again: %v", st)
	}
}

// TestLink: a port that goes down says so, what is sent is lost, and comes again if it is back in time.
func TestLink(t *testing.T) {
	w := newWorld(1, fabric.Config{Latency: time.Microsecond})
	l := connect(t, w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), 4096)
	w.devs = l.dev[:]
	events(l.dev[1]) // of connecting
	w.net.SetLink(netip.MustParseAddr("10.0.0.2"), false)
	l.post(t, 0, 8)
	for range 10 {
		l.dev[0].Progress()
		l.dev[1].Progress()
		w.tick()
	}
	if l.dev[1].Port().State != rdma.PortDown || w.net.Lost() == 0 {
		t.Errorf("port %v, %d lost", l.dev[1].Port().State, w.net.Lost())
	}
	w.net.SetLink(netip.MustParseAddr("10.0.0.2"), true)
	if st := l.status(t, w.tick); st != rdma.StatusSuccess {
		t.Fatal(st)
	}
	got := events(l.dev[1])
	if l.dev[1].Port().State != rdma.PortActive || len(got) != 2 || got[0] != rdma.EventPortDown || got[1] != rdma.EventPortActive {
		t.Errorf("port %v, events %v", l.dev[1].Port().State, got)
	}
}

// TestWindowFits: a requester has no more under way than half of what the receive buffer has room for, so that a peer who does not look for a while loses nothing.
func TestWindowFits(t *testing.T) {
	for _, inbox := range []int{64 << 10, 256 << 10, 4 << 20} {
		w := newWorld(1, fabric.Config{Latency: time.Microsecond, Inbox: inbox})
		l := connect(t, w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), 1<<20)
		w.devs = l.dev[:]
		for range 16 { // until the window is open
			l.post(t, 0, 1<<20)
			l.status(t, w.tick)
		}
		before := l.dev[0].Stats().TxPackets
		for range 8 {
			l.post(t, 0, 1<<20)
		}
		for range 50 { // the peer has no turn
			l.dev[0].Progress()
			w.net.Step(w.net.Now() + 10*time.Microsecond)
		}
		sent := l.dev[0].Stats().TxPackets - before
		if most := min(256, uint64(inbox/2/4096)); w.net.Lost() > 0 || sent > most || sent < most*3/4 {
			t.Errorf("%d bytes of room: %d packets were sent, at most %d fit; %d were lost", inbox, sent, most, w.net.Lost())
		}
	}
}

// TestUnreachable: who isn't there, or of another family, is refused with the reason when one connects.
func TestUnreachable(t *testing.T) {
	w := newWorld(1, fabric.Config{})
	pd, err := w.bare(t, "10.0.0.1:5001").AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a    rdma.AHAttr
		want error
		text string
	}{
		{rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr("10.0.0.9"))}, rdma.ErrUnreachable, "10.0.0.9"},
		{rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr("fd00::1"))}, rdma.ErrInvalid, "different families"},
		{rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr("10.0.0.1")), SGIDIndex: 1}, rdma.ErrInvalid, "no GID with index 1"},
	} {
		if _, err := pd.CreateAH(c.a); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.a, err)
		}
	}
}

// TestStarving: a queue pair whose peer is dead, with a full ring that is sent again and again, takes nothing from another.
func TestStarving(t *testing.T) {
	w := newWorld(1, fabric.Config{Latency: time.Microsecond})
	a, b, dead := w.bare(t, "10.0.0.1:5001"), w.bare(t, "10.0.0.2:5002"), w.bare(t, "10.0.0.3:5003")
	bad, good := connect(t, a, dead, 1<<20), connect(t, a, b, 1<<20)
	w.devs = []*soft.Device{a, b}
	for range 40 {
		bad.post(t, 0, 1<<20)
	}
	for i := range 20 {
		good.post(t, 0, 100000)
		begin := w.net.Now()
		if st := good.status(t, w.tick); st != rdma.StatusSuccess {
			t.Fatal(st)
		}
		if took := w.net.Now() - begin; took > 100*time.Microsecond {
			t.Errorf("write %d took %v", i, took)
		}
	}
}

// TestGoodput: bytes per virtual second by loss, as a golden curve: who changes retries or windows sees what it does.
func TestGoodput(t *testing.T) {
	var got strings.Builder
	for _, loss := range []float64{0, 0.1, 0.5, 1, 2, 5, 10} {
		w := newWorld(5, fabric.Config{Latency: 10 * time.Microsecond})
		rules := []carrier.Rule{{Share: loss / 100, Drop: true}}
		x, y := w.open(t, "10.0.0.1:5001", rules...), w.open(t, "10.0.0.2:5002", rules...)
		l := connect(t, x, y, 1<<20)
		for _, q := range l.qp { // a time-out that suits the network: 1 ms
			for _, s := range []rdma.QPAttr{{State: rdma.SQD}, {State: rdma.SQD, Timeout: 8}, {State: rdma.RTS}} {
				mask := rdma.AttrMask(0)
				if s.Timeout != 0 {
					mask = rdma.MaskTimeout
				}
				if err := q.Modify(s, mask); err != nil {
					t.Fatal(err)
				}
			}
		}
		begin, done := w.net.Now(), 0
		for posted := 0; done < 50; {
			if posted-done < 4 && posted < 50 {
				l.post(t, 0, 1<<20)
				posted++
				continue
			}
			done += l.turn(t, 0)
			w.tick()
		}
		took := w.net.Now() - begin
		s := x.Stats()
		fmt.Fprintf(&got, "loss %4.1f %%: %6d MB/s, %5.2f packets sent for each needed, %d times back, %d time-outs\n", loss,
			int64(50<<20)*1000/int64(took), float64(s.TxPackets)/(50*256), s.GoBacks, s.Timeouts)
	}
	golden.Same(t, "testdata/goodput.txt", got.String())
}

// TestPatience: a packet that is lost more often than there are retries, while the peer refuses what comes behind it, gets through in the
// end; one that never does ends the connection all the same.
func TestPatience(t *testing.T) {
	op := packet.WriteFirst
	for _, c := range []struct {
		count int
		want  rdma.WCStatus
	}{{12, rdma.StatusSuccess}, {0, rdma.StatusRetryExceeded}} {
		w := newWorld(1, fabric.Config{Latency: time.Microsecond})
		l := connect(t, w.open(t, "10.0.0.1:5001", carrier.Rule{Opcode: &op, Share: 1, Count: c.count, Drop: true}), w.open(t, "10.0.0.2:5002"), 1<<20)
		begin := w.net.Now()
		l.post(t, 0, 9000)
		if st := l.status(t, w.tick); st != c.want {
			t.Errorf("lost %d times: %v, want %v", c.count, st, c.want)
		}
		limit := 2 * 8 * rdma.AckTimeout(14)
		if took := w.net.Now() - begin; took > limit {
			t.Errorf("lost %d times: took %v, more than %v", c.count, took, limit)
		}
		if s := l.dev[0].Stats(); s.NaksTaken < 8 {
			t.Errorf("%+v", s)
		}
	}
}
