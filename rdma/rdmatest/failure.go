package rdmatest

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/openbraid/braid/rdma"
)

// write is a WRITE of n bytes to the peer's memory.
func (x *side) write(y *side, n int) rdma.SendWR {
	return rdma.SendWR{Op: rdma.OpWrite, SGL: x.sge(0, n), RKey: y.mr.RKey(), Addr: y.mr.Addr()}
}

// posts: what can't be is refused at once, and nothing of it is taken.
func posts(t *testing.T, b *bench) {
	x, y := b.connect(shape{cap: rdma.QPCap{SendSGE: 2, RecvSGE: 1, RecvWR: 2, Inline: 16}})
	two := append(x.sge(0, 1), x.sge(1, 1)...)
	ok := x.write(y, 8)
	for name, wr := range map[string]rdma.SendWR{
		"too many pieces":     {Op: rdma.OpWrite, SGL: append(two, two...)},
		"too long inline":     {Op: rdma.OpWrite, Inline: make([]byte, 17)},
		"no such operation":   {Op: 200},
		"atomic of 4 bytes":   {Op: rdma.OpFetchAdd, SGL: x.sge(0, 4)},
		"atomic in pieces":    {Op: rdma.OpFetchAdd, SGL: append(x.sge(0, 4), x.sge(4, 4)...)},
		"inline READ":         {Op: rdma.OpRead, Inline: []byte{1}},
		"bind of nothing":     {Op: rdma.OpBindMW},
		"two kinds of memory": {Op: rdma.OpSend, Inline: []byte{1}, SGL: x.sge(0, 1)},
	} {
		if n, st := x.qp.PostSend([]rdma.SendWR{ok, wr, ok}); n != 1 || st != rdma.BadWR {
			t.Errorf("%s: took %d, %v; want 1, %v", name, n, st, rdma.BadWR)
		}
	}
	if n, st := y.qp.PostRecv([]rdma.RecvWR{{}, {SGL: y.sge(0, 1)}, {}}); n != 2 || st != rdma.Full {
		t.Errorf("receives: took %d, %v; want 2, %v", n, st, rdma.Full)
	}
	if n, st := x.qp.PostRecv([]rdma.RecvWR{{SGL: two}}); n != 0 || st != rdma.BadWR {
		t.Errorf("receive with too many pieces: took %d, %v", n, st)
	}
	ok.Flags = rdma.FlagSignaled
	x.send(ok)
	x.one(rdma.StatusSuccess)
	if x.qp.State() != rdma.RTS {
		t.Errorf("%v", x.qp.State())
	}
}

// notReady: a message waits at the sender until there is a receive.
func notReady(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	fill(x.mem[:3000], 1)
	for i := range 3 {
		x.send(rdma.SendWR{ID: uint64(i), Op: rdma.OpSend, Flags: rdma.FlagSignaled, SGL: x.sge(0, 3000)})
	}
	b.settle()
	if len(x.sends) != 0 {
		t.Fatalf("completed without a receive: %v", x.sends)
	}
	for i := range 3 {
		y.recv(uint64(i), 0, 3000)
		if wc := x.one(rdma.StatusSuccess); wc.ID != uint64(i) {
			t.Errorf("%+v", wc)
		}
		y.got(1)
	}
	if !bytes.Equal(x.mem[:3000], y.mem[:3000]) {
		t.Error("not what was sent")
	}
}

// neverReady: patience ends.
func neverReady(t *testing.T, b *bench) {
	x, _ := b.connect(shape{rnrs: 2})
	x.send(rdma.SendWR{Op: rdma.OpSend, SGL: x.sge(0, 10)})
	x.one(rdma.StatusRNRExceeded)
	if x.qp.State() != rdma.Err {
		t.Errorf("%v", x.qp.State())
	}
}

// remoteAccess: each way in which remote memory must not be reached.
func remoteAccess(t *testing.T, b *bench) {
	all := rdma.AccessLocalWrite | rdma.AccessRemote
	for _, c := range []struct {
		name   string
		access rdma.Access // of the region
		qp     rdma.Access // of the queue pair
		op     rdma.Op
		change func(wr *rdma.SendWR, y *side)
	}{
		{"key", all, all, rdma.OpWrite, func(wr *rdma.SendWR, y *side) { wr.RKey ^= 0x5a5a }},
		{"local key", all, all, rdma.OpWrite, func(wr *rdma.SendWR, y *side) { wr.RKey = y.mr.LKey() ^ y.mr.RKey()&1 ^ 1 }},
		{"below", all, all, rdma.OpWrite, func(wr *rdma.SendWR, y *side) { wr.Addr-- }},
		{"beyond", all, all, rdma.OpWrite, func(wr *rdma.SendWR, y *side) { wr.Addr += uint64(len(y.mem)) - 2999 }},
		{"round the end", all, all, rdma.OpWrite, func(wr *rdma.SendWR, y *side) { wr.Addr = ^uint64(0) - 5 }},
		{"write", all &^ rdma.AccessRemoteWrite, all, rdma.OpWrite, nil},
		{"read", all &^ rdma.AccessRemoteRead, all, rdma.OpRead, nil},
		{"atomic", all &^ rdma.AccessRemoteAtomic, all, rdma.OpFetchAdd, nil},
		{"queue pair: write", all, all &^ rdma.AccessRemoteWrite, rdma.OpWrite, nil},
		{"queue pair: read", all, all &^ rdma.AccessRemoteRead, rdma.OpRead, nil},
		{"queue pair: atomic", all, all &^ rdma.AccessRemoteAtomic, rdma.OpCompareSwap, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, b.k)
			x, y := b.connect(shape{access: c.access})
			b.ok(y.qp.Modify(rdma.QPAttr{State: rdma.RTS, Access: c.qp & rdma.AccessRemote}, rdma.MaskAccess), "access of the queue pair")
			fill(x.mem[:3000], 1)
			n := 3000
			if c.op.Atomic() {
				n = 8
			}
			wr := rdma.SendWR{Op: c.op, SGL: x.sge(0, n), RKey: y.mr.RKey(), Addr: y.mr.Addr(), CompareAdd: 1, Swap: 1}
			if c.change != nil {
				c.change(&wr, y)
			}
			x.send(wr, x.write(y, 1))
			x.one(rdma.StatusRemAccess)
			x.one(rdma.StatusFlushed)
			b.until("the responder's ERR", func() bool { return y.qp.State() == rdma.Err })
			if !bytes.Equal(y.mem, make([]byte, len(y.mem))) {
				t.Error("memory has changed")
			}
		})
	}
	t.Run("unaligned atomic", func(t *testing.T) {
		b := newBench(t, b.k)
		x, y := b.connect(shape{})
		wr := rdma.SendWR{Op: rdma.OpFetchAdd, SGL: x.sge(0, 8), RKey: y.mr.RKey(), Addr: y.mr.Addr() + 4, CompareAdd: 1}
		if n, st := x.qp.PostSend([]rdma.SendWR{wr}); n == 0 && st == rdma.BadWR {
			return // refused by the device that was asked
		}
		x.one(rdma.StatusRemInvReq)
	})
}

// localAccess: SGEs that can't be end the queue pair when their turn comes, not before.
func localAccess(t *testing.T, b *bench) {
	for _, c := range []struct {
		name   string
		access rdma.Access
		op     rdma.Op
		change func(*rdma.SGE)
	}{
		{"key", 0, rdma.OpWrite, func(s *rdma.SGE) { s.LKey ^= 0x5a5a }},
		{"beyond", 0, rdma.OpSend, func(s *rdma.SGE) { s.Addr += 1 << 40 }},
		{"below", 0, rdma.OpWrite, func(s *rdma.SGE) { s.Addr-- }},
		{"read into what may not be written", rdma.AccessRemoteRead, rdma.OpRead, func(*rdma.SGE) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, b.k)
			x, y := b.connect(shape{access: c.access})
			y.recv(1, 0, 100)
			bad := rdma.SendWR{ID: 2, Op: c.op, SGL: x.sge(0, 50), RKey: y.mr.RKey(), Addr: y.mr.Addr()}
			c.change(&bad.SGL[0])
			good := rdma.SendWR{ID: 1, Op: rdma.OpRead, Flags: rdma.FlagSignaled, RKey: y.mr.RKey(), Addr: y.mr.Addr()}
			x.send(good, bad, good)
			if wc := x.one(rdma.StatusSuccess); wc.ID != 1 {
				t.Errorf("%+v", wc)
			}
			if wc := x.one(rdma.StatusLocProt); wc.ID != 2 {
				t.Errorf("%+v", wc)
			}
			x.one(rdma.StatusFlushed)
		})
	}
	t.Run("receive", func(t *testing.T) {
		b := newBench(t, b.k)
		x, y := b.connect(shape{})
		bad := y.sge(0, 100)
		bad[0].LKey ^= 0x5a5a
		if _, st := y.qp.PostRecv([]rdma.RecvWR{{ID: 7, SGL: bad}}); st != rdma.Posted {
			t.Fatal(st)
		}
		x.send(rdma.SendWR{Op: rdma.OpSend, SGL: x.sge(0, 50)})
		x.one(rdma.StatusRemOp)
		if wc := y.got(1)[0]; wc.ID != 7 || !b.k.says(wc.Status, rdma.StatusLocProt) {
			t.Errorf("%+v", wc)
		}
	})
}

// tooLong: a message that the receive has no room for.
func tooLong(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	y.recv(7, 0, 2999)
	x.send(rdma.SendWR{Op: rdma.OpSend, SGL: x.sge(0, 3000)})
	x.one(rdma.StatusRemInvReq)
	if wc := y.got(1)[0]; wc.ID != 7 || !b.k.says(wc.Status, rdma.StatusLocLen) {
		t.Errorf("%+v", wc)
	}
	for i, c := range y.mem[2999:4000] {
		if c != 0 {
			t.Fatalf("byte %d behind the receive has changed", i)
		}
	}
}

// flush: after ERR everything that is posted ends once, in order, and then the last one is known.
func flush(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	for i := range 10 {
		x.recv(uint64(100+i), 0, 10)
	}
	// Nothing can be done with these: the peer has no receives.
	for i := range 10 {
		x.send(rdma.SendWR{ID: uint64(i), Op: rdma.OpSend, SGL: x.sge(0, 3000)})
	}
	b.ok(x.qp.Modify(rdma.QPAttr{State: rdma.Err}, 0), "to ERR")
	for i := range 5 { // posted in ERR: taken, and flushed too
		x.send(rdma.SendWR{ID: uint64(10 + i), Op: rdma.OpWrite, SGL: x.sge(0, 1)})
		x.recv(uint64(110+i), 0, 10)
	}
	for i, wc := range x.sent(15) {
		if wc.ID != uint64(i) || wc.Status != rdma.StatusFlushed || wc.QPNum != x.qp.Num() {
			t.Errorf("send %d: %+v", i, wc)
		}
	}
	for i, wc := range x.got(15) {
		if wc.ID != uint64(100+i) || wc.Status != rdma.StatusFlushed {
			t.Errorf("receive %d: %+v", i, wc)
		}
	}
	if e := x.event(rdma.EventLastWQE); e.QP != x.qp {
		t.Errorf("%+v", e)
	}
	b.settle()
	if len(x.sends)+len(x.recvs) != 0 {
		t.Errorf("more than was posted: %v %v", x.sends, x.recvs)
	}
	if y.qp.State() != rdma.RTS {
		t.Errorf("the peer, which nobody told, is in %v", y.qp.State())
	}
}

// deadPeer: somebody who doesn't answer is found out, and everything ends.
func deadPeer(t *testing.T, b *bench) {
	if b.k.Cut == nil {
		t.Skip("nothing can be cut here")
	}
	x, y := b.connect(shape{timeout: cmp.Or(b.k.Short, 8), retries: 2})
	x.send(x.write(y, 10))
	b.settle()
	b.k.Cut()
	x.send(x.write(y, 3000), rdma.SendWR{Op: rdma.OpRead, SGL: x.sge(0, 10), RKey: y.mr.RKey(), Addr: y.mr.Addr()}, x.write(y, 1))
	x.one(rdma.StatusRetryExceeded)
	x.one(rdma.StatusFlushed)
	x.one(rdma.StatusFlushed)
	x.event(rdma.EventLastWQE)
}

// position: in ERR the responder knows how many packets it executed, and doesn't execute any more.
func position(t *testing.T, b *bench) {
	const packets = 4
	x, y := b.connect(shape{mtu: rdma.MTU256, psn: [2]uint32{rdma.MaxNum - 6, 5}, timeout: cmp.Or(b.k.Short, 8), retries: 1})
	for i := range 10 {
		fill(x.mem[:packets*256], i)
		wr := x.write(y, packets*256)
		wr.Flags = rdma.FlagSignaled
		x.send(wr)
		x.one(rdma.StatusSuccess)
		if got := rdma.PSNDiff(y.qp.Query().RQPSN, x.psn); got != packets*(i+1) {
			t.Fatalf("after %d messages the position is %d, want %d", i+1, got, packets*(i+1))
		}
	}
	b.ok(y.qp.Modify(rdma.QPAttr{State: rdma.Err}, 0), "to ERR")
	before := y.qp.Query().RQPSN
	want := bytes.Clone(y.mem)
	fill(x.mem[:packets*256], 99)
	x.send(x.write(y, packets*256))
	x.one(rdma.StatusRetryExceeded)
	if after := y.qp.Query().RQPSN; after != before || !bytes.Equal(y.mem, want) {
		t.Errorf("position %d in ERR, then %d; memory as it was: %v", before, after, bytes.Equal(y.mem, want))
	}
}

// drain: in SQD what was begun is finished, what wasn't waits.
func drain(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	wr := x.write(y, 3000)
	wr.Flags = rdma.FlagSignaled
	x.send(wr, wr, wr)
	b.ok(x.qp.Modify(rdma.QPAttr{State: rdma.SQD}, 0), "to SQD")
	x.event(rdma.EventSQDrained)
	done := len(x.sends)
	wr.ID = 9
	x.send(wr)
	b.settle()
	for _, wc := range x.sends[done:] {
		if wc.ID == 9 {
			t.Error("posted in SQD, and done")
		}
	}
	if x.qp.Query().Draining {
		t.Error("still draining after the event")
	}
	b.ok(x.qp.Modify(rdma.QPAttr{State: rdma.SQD, AV: x.route(y), Timeout: 15}, rdma.MaskAV|rdma.MaskTimeout), "a new address in SQD")
	b.ok(x.qp.Modify(rdma.QPAttr{State: rdma.RTS}, 0), "back to RTS")
	if wc := x.sent(4); wc[3].ID != 9 || wc[3].Status != rdma.StatusSuccess {
		t.Errorf("%+v", wc)
	}
}

// again: a queue pair that failed works again after RESET.
func again(t *testing.T, b *bench) {
	s := shape{}
	x, y := b.connect(s)
	for round := range 5 {
		for i := range 20 {
			y.recv(uint64(i), 0, 100)
			x.recv(uint64(i), 0, 100)
			x.send(rdma.SendWR{ID: uint64(i), Op: rdma.OpSend, Flags: rdma.FlagSignaled, SGL: x.sge(0, 100)})
		}
		x.sent(20)
		y.got(20)
		for _, s := range b.side {
			s.step(rdma.Err, rdma.QPAttr{})
			s.step(rdma.Reset, rdma.QPAttr{})
			s.event(rdma.EventLastWQE)
			s.sends, s.recvs, s.events = nil, nil, nil
			s.psn = uint32(1000 * round)
		}
		b.settle()
		for _, s := range b.side {
			s.sends, s.recvs = nil, nil
		}
		b.join(s)
	}
}

// overrun: a queue that is too small says so.
func overrun(t *testing.T, b *bench) {
	x, y := b.connect(shape{depth: 4, sigAll: true})
	depth := x.scq.Depth()
	for range depth + 4 {
		x.send(x.write(y, 1))
	}
	b.side[0] = nil // nobody polls it
	var ev [8]rdma.Event
	b.until("CQ overrun", func() bool {
		n := x.dev.PollEvents(ev[:])
		return slices.ContainsFunc(ev[:n], func(e rdma.Event) bool { return e.Type == rdma.EventCQOverrun && e.CQ == x.scq })
	})
	if x.qp.State() != rdma.Err {
		t.Errorf("%v", x.qp.State())
	}
	wc := make([]rdma.WC, 2*depth)
	if n := x.scq.Poll(wc); n != depth {
		t.Errorf("%d completions could be polled, want %d", n, depth)
	}
}

// busy: nothing ends while others need it.
func busy(t *testing.T, b *bench) {
	x, _ := b.connect(shape{})
	for name, err := range map[string]error{"PD": x.pd.Dealloc(), "send CQ": x.scq.Destroy(), "receive CQ": x.rcq.Destroy()} {
		if !errors.Is(err, rdma.ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x.recv(1, 0, 10)
	if err := x.mr.Deregister(); !errors.Is(err, rdma.ErrBusy) {
		t.Errorf("region with a receive posted: %v", err)
	}
	b.ok(x.qp.Destroy(), "QP")
	b.ok(x.scq.Destroy(), "send CQ")
	b.ok(x.rcq.Destroy(), "receive CQ")
	b.ok(x.mr.Deregister(), "MR")
	b.ok(x.pd.Dealloc(), "PD")
	if _, st := x.qp.PostSend(nil); st != rdma.Closed {
		t.Errorf("post after Destroy: %v", st)
	}
	if err := x.qp.Modify(rdma.QPAttr{State: rdma.Reset}, 0); !errors.Is(err, rdma.ErrClosed) {
		t.Errorf("Modify after Destroy: %v", err)
	}
	b.side[0] = nil
	b.ok(x.dev.Close(), "device")
	b.ok(x.dev.Close(), "device, again")
	if _, err := x.dev.AllocPD(); !errors.Is(err, rdma.ErrClosed) {
		t.Errorf("AllocPD after Close: %v", err)
	}
}
