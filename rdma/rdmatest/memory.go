package rdmatest

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/rdma"
)

// deregister: remote access ends at once, also while a local work request keeps the region.
func deregister(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	wr := x.write(y, 10)
	wr.Flags = rdma.FlagSignaled
	fill(x.mem[:10], 1)
	x.send(wr)
	x.one(rdma.StatusSuccess)
	y.recv(1, 100, 10)
	if err := y.mr.Deregister(); !errors.Is(err, rdma.ErrBusy) {
		t.Fatalf("a receive is posted: %v", err)
	}
	want := bytes.Clone(y.mem)
	y.send(rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, SGL: y.sge(0, 10), RKey: x.mr.RKey(), Addr: x.mr.Addr() + 500})
	y.one(rdma.StatusSuccess) // local use goes on
	fill(x.mem[:10], 2)
	x.send(wr)
	x.one(rdma.StatusRemAccess)
	if !bytes.Equal(y.mem, want) {
		t.Error("written after deregistration")
	}
	y.got(1) // flushed
	b.ok(y.mr.Deregister(), "after the receive is done")
	b.ok(y.mr.Deregister(), "again")
}

// bind posts a bind and waits for it.
func (x *side) bind(mw rdma.MW, at, n int, access rdma.Access) {
	x.b.t.Helper()
	x.send(rdma.SendWR{Op: rdma.OpBindMW, Flags: rdma.FlagSignaled,
		Bind: rdma.Bind{MW: mw, MR: x.mr, Addr: x.mr.Addr() + uint64(at), Length: uint64(n), Access: access}})
	x.one(rdma.StatusSuccess)
}

func (b *bench) window(x *side, typ rdma.MWType) rdma.MW {
	b.t.Helper()
	if !slices.Contains(x.dev.Attr().Windows, typ) {
		b.t.Skipf("the device has no windows of type %d", typ)
	}
	mw, err := x.pd.AllocMW(typ)
	b.ok(err, "a window")
	return mw
}

// window1: a window opens its part with its rights, a bind of nothing closes it.
func window1(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	mw := b.window(y, rdma.Window1)
	y.bind(mw, 1000, 100, rdma.AccessRemoteWrite)
	old := mw.RKey()
	wr := rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, SGL: x.sge(0, 100), RKey: old, Addr: y.mr.Addr() + 1000}
	fill(x.mem[:100], 3)
	x.send(wr)
	x.one(rdma.StatusSuccess)
	if !bytes.Equal(x.mem[:100], y.mem[1000:1100]) {
		t.Error("not what was written")
	}
	if err := y.mr.Deregister(); !errors.Is(err, rdma.ErrBusy) {
		t.Errorf("deregistering under a window: %v", err)
	}
	x.send(wr)
	x.one(rdma.StatusRemAccess) // that has ended remote access by the window too

	b = newBench(t, b.k)
	x, y = b.connect(shape{})
	mw = b.window(y, rdma.Window1)
	y.bind(mw, 1000, 100, rdma.AccessRemoteWrite)
	wr.RKey, wr.Addr, wr.SGL = mw.RKey(), y.mr.Addr()+1000, x.sge(0, 100)
	x.send(wr)
	x.one(rdma.StatusSuccess)
	y.bind(mw, 1000, 0, 0)
	x.send(wr)
	x.one(rdma.StatusRemAccess)
	for _, c := range []struct {
		name   string
		change func(*rdma.SendWR)
	}{
		{"beyond", func(wr *rdma.SendWR) { wr.Addr++ }},
		{"below", func(wr *rdma.SendWR) { wr.Addr-- }},
		{"read", func(wr *rdma.SendWR) { wr.Op = rdma.OpRead }},
		{"old key", func(wr *rdma.SendWR) { wr.RKey = 0 }},
	} {
		if b.k.WideWindows && (c.name == "beyond" || c.name == "below") {
			continue
		}
		b := newBench(t, b.k)
		x, y := b.connect(shape{})
		mw := b.window(y, rdma.Window1)
		y.bind(mw, 0, 10, rdma.AccessRemote)
		first := mw.RKey()
		y.bind(mw, 1000, 100, rdma.AccessRemoteWrite)
		if mw.RKey() == first {
			t.Error("the key did not change")
		}
		wr := rdma.SendWR{Op: rdma.OpWrite, SGL: x.sge(0, 100), RKey: mw.RKey(), Addr: y.mr.Addr() + 1000}
		if c.change(&wr); wr.RKey == 0 {
			wr.RKey = first
		}
		x.send(wr)
		if wc := x.sent(1)[0]; wc.Status != rdma.StatusRemAccess {
			t.Errorf("%s: %v", c.name, wc.Status)
		}
	}
}

// deadWindow: a window that ends while a bind of it waits is never opened.
func deadWindow(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	mw := b.window(y, rdma.Window1)
	y.send(rdma.SendWR{Op: rdma.OpRead, SGL: y.sge(0, 10000), RKey: x.mr.RKey(), Addr: x.mr.Addr()},
		rdma.SendWR{ID: 1, Op: rdma.OpBindMW, Flags: rdma.FlagFence | rdma.FlagSignaled,
			Bind: rdma.Bind{MW: mw, MR: y.mr, Addr: y.mr.Addr(), Length: 10, Access: rdma.AccessRemoteWrite}})
	key := mw.RKey()
	if err := mw.Dealloc(); err == nil {
		t.Skip("the bind was executed before it could be")
	} else if !errors.Is(err, rdma.ErrBusy) {
		t.Fatal(err)
	}
	wc := y.sent(1)[0]
	if wc.ID != 1 || wc.Status != rdma.StatusMWBind && wc.Status != rdma.StatusSuccess { // executed before, and not polled
		t.Errorf("the bind: %+v", wc)
	}
	b.ok(mw.Dealloc(), "when the bind is over")
	x.send(rdma.SendWR{Op: rdma.OpWrite, Inline: []byte("x"), RKey: key, Addr: y.mr.Addr()})
	if wc := x.sent(1)[0]; wc.Status == rdma.StatusSuccess {
		t.Error("written by the key of a window that ended")
	}
}

// window2: it is closed by the one that bound it, or by its peer.
func window2(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	mw := b.window(y, rdma.Window2)
	wr := rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, SGL: x.sge(0, 10), Addr: y.mr.Addr()}
	for i := range 3 {
		y.bind(mw, 0, 10, rdma.AccessRemoteWrite)
		wr.RKey = mw.RKey()
		x.send(wr)
		x.one(rdma.StatusSuccess)
		if i == 1 {
			y.recv(1, 100, 10)
			x.send(rdma.SendWR{Op: rdma.OpSendInv, Flags: rdma.FlagSignaled, RKey: wr.RKey})
			x.one(rdma.StatusSuccess)
			if wc := y.got(1)[0]; wc.Flags != rdma.WCHasInv || wc.InvRKey != wr.RKey {
				t.Errorf("%+v", wc)
			}
			continue
		}
		y.send(rdma.SendWR{Op: rdma.OpLocalInv, Flags: rdma.FlagSignaled, RKey: wr.RKey})
		if wc := y.one(rdma.StatusSuccess); wc.Op != rdma.WCLocalInv {
			t.Errorf("%+v", wc)
		}
	}
	x.send(wr)
	x.one(rdma.StatusRemAccess)
	b.ok(mw.Dealloc(), "the window")
}

// datagrams: what was sent comes with its sender's address, or not at all.
func datagrams(t *testing.T, b *bench) {
	x, y := b.connect(shape{typ: rdma.TypeUD})
	ah, err := x.pd.CreateAH(x.route(y))
	b.ok(err, "an address handle")
	fill(x.mem[:1000], 5)
	for i, n := range []int{0, 1, 256, 1000} {
		y.recv(uint64(i), 0, rdma.GRHBytes+1000)
		wr := rdma.SendWR{Op: rdma.OpSendImm, Flags: rdma.FlagSignaled, SGL: x.sge(0, n), Imm: uint32(i), AH: ah, DestQPN: y.qp.Num(), DestQKey: 0x11111111}
		x.send(wr)
		x.one(rdma.StatusSuccess)
		wc := y.got(1)[0]
		if wc.Length != uint32(rdma.GRHBytes+n) || wc.SrcQPN != x.qp.Num() || wc.Flags != rdma.WCHasImm|rdma.WCHasGRH || wc.Imm != uint32(i) {
			t.Errorf("%d bytes: %+v", n, wc)
		}
		if !bytes.Equal(y.mem[rdma.GRHBytes:rdma.GRHBytes+n], x.mem[:n]) {
			t.Errorf("%d bytes: not what was sent", n)
		}
		// And back, to where it came from.
		back, err := y.pd.CreateAH(wc.Reply(y.route(x).SGIDIndex))
		b.ok(err, "an address handle for the answer")
		x.recv(9, 2000, rdma.GRHBytes)
		y.send(rdma.SendWR{Op: rdma.OpSend, Flags: rdma.FlagSignaled, AH: back, DestQPN: wc.SrcQPN, DestQKey: 0x11111111})
		x.got(1)
		y.one(rdma.StatusSuccess)
		b.ok(back.Destroy(), "the handle")
	}
	// A wrong key, no receive, and too short a one: it is lost, and nobody is hurt.
	y.recv(1, 0, rdma.GRHBytes)
	lost := []rdma.SendWR{{DestQKey: 5}, {DestQKey: 0x11111111, SGL: x.sge(0, 10)}}
	if b.k.Truncates {
		lost = lost[:1]
	}
	for _, wr := range lost {
		wr.Op, wr.Flags, wr.AH, wr.DestQPN = rdma.OpSend, rdma.FlagSignaled, ah, y.qp.Num()
		x.send(wr)
		x.one(rdma.StatusSuccess)
	}
	b.settle()
	if len(y.recvs) != 0 || y.qp.State() != rdma.RTS {
		t.Errorf("%v %v", y.recvs, y.qp.State())
	}
	if _, st := x.qp.PostSend([]rdma.SendWR{{Op: rdma.OpWrite, AH: ah}}); st != rdma.BadWR {
		t.Errorf("a WRITE as datagram: %v", st)
	}
	if b.k.Truncates {
		return
	}
	// Too long for a packet: the send queue stops, and can go on.
	x.send(rdma.SendWR{Op: rdma.OpSend, SGL: x.sge(0, 5000), AH: ah, DestQPN: y.qp.Num()}, rdma.SendWR{Op: rdma.OpSend, AH: ah, DestQPN: y.qp.Num()})
	x.one(rdma.StatusLocLen)
	x.one(rdma.StatusFlushed)
	if x.qp.State() != rdma.SQE {
		t.Errorf("%v", x.qp.State())
	}
	b.ok(x.qp.Modify(rdma.QPAttr{State: rdma.RTS}, 0), "SQE to RTS")
	x.send(rdma.SendWR{Op: rdma.OpSend, Flags: rdma.FlagSignaled, AH: ah, DestQPN: y.qp.Num(), DestQKey: 0x11111111})
	x.one(rdma.StatusSuccess)
	y.got(1)
}

// wellKnown: who knows nothing but an address reaches queue pair 1.
func wellKnown(t *testing.T, b *bench) {
	if !b.dev[0].Attr().GSI {
		t.Skip("the device keeps queue pair 1 to itself")
	}
	x, y := b.connect(shape{typ: rdma.TypeGSI})
	if x.qp.Num() != 1 || y.qp.Num() != 1 {
		t.Fatalf("numbers %d, %d", x.qp.Num(), y.qp.Num())
	}
	if _, err := x.pd.CreateQP(rdma.QPInit{Type: rdma.TypeGSI, SendCQ: x.scq, RecvCQ: x.rcq}); !errors.Is(err, rdma.ErrBusy) {
		t.Errorf("a second one: %v", err)
	}
	ah, err := x.pd.CreateAH(x.route(y))
	b.ok(err, "an address handle")
	y.recv(1, 0, 100)
	x.send(rdma.SendWR{Op: rdma.OpSend, Inline: []byte("hello"), AH: ah, DestQPN: 1, DestQKey: 0x11111111})
	y.got(1)
	if string(y.mem[rdma.GRHBytes:rdma.GRHBytes+5]) != "hello" {
		t.Errorf("%q", y.mem[:50])
	}
}

// self: a queue pair that is connected to itself works, and so does a window that it binds, for others.
func self(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	var s shape
	s.fill(y.dev)
	loop := &side{b: b, name: "loop", dev: y.dev, pd: y.pd, scq: y.scq, rcq: y.rcq, mem: y.mem, mr: y.mr}
	qp, err := y.pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: y.scq, RecvCQ: y.rcq, Cap: s.cap})
	b.ok(err, "a third queue pair")
	loop.qp = qp
	for _, to := range []rdma.QPState{rdma.Init, rdma.RTR, rdma.RTS} {
		loop.step(to, loop.attr(s, loop))
	}
	fill(y.mem[:3000], 1)
	y.recvOn(qp, 5000, 3000)
	loop.send(rdma.SendWR{Op: rdma.OpSend, Flags: rdma.FlagSignaled, SGL: loop.sge(0, 3000)})
	y.one(rdma.StatusSuccess)
	y.got(1)
	if !bytes.Equal(y.mem[:3000], y.mem[5000:8000]) {
		t.Error("SEND to itself: not what was sent")
	}
	mw := b.window(y, rdma.Window1)
	loop.send(rdma.SendWR{Op: rdma.OpBindMW, Flags: rdma.FlagSignaled,
		Bind: rdma.Bind{MW: mw, MR: y.mr, Addr: y.mr.Addr() + 9000, Length: 10, Access: rdma.AccessRemoteWrite}})
	y.one(rdma.StatusSuccess)
	x.send(rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, Inline: []byte("by window!"), RKey: mw.RKey(), Addr: y.mr.Addr() + 9000})
	x.one(rdma.StatusSuccess)
	if string(y.mem[9000:9010]) != "by window!" {
		t.Errorf("%q", y.mem[9000:9010])
	}
}

// recvOn posts a receive on another queue pair of the side.
func (x *side) recvOn(qp rdma.QP, at, n int) {
	x.b.t.Helper()
	if _, st := qp.PostRecv([]rdma.RecvWR{{SGL: x.sge(at, n)}}); st != rdma.Posted {
		x.b.t.Fatalf("posting a receive: %v", st)
	}
}
