package rdmatest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/openbraid/braid/rdma"
)

func attributes(t *testing.T, b *bench) {
	for _, d := range b.dev {
		a, p := d.Attr(), d.Port()
		if a.Name == "" || a.MaxCQE < 1 || a.MaxSendBlocks < 1 || a.MaxRecvWR < 1 || a.MaxSGE < 1 || a.MaxWRBlocks < 1 ||
			a.MaxMessageBytes < 1<<20 || a.MaxReadsIn < 1 || a.MaxReadsOut < 1 {
			t.Errorf("%+v", a)
		}
		if p.State != rdma.PortActive || p.ActiveMTU < rdma.MTU256 || p.MaxMTU < p.ActiveMTU {
			t.Errorf("%+v", p)
		}
		if !a.PeerPort && p.UDPPort != rdma.RoCEPort {
			t.Errorf("port %d, but peers can't be told", p.UDPPort)
		}
		if len(d.GIDs()) == 0 {
			t.Error("no GID")
		}
	}
}

// sizes: SEND, WRITE and READ of every length that is near an edge, both ways at once.
func sizes(t *testing.T, b *bench) {
	list := []int{0, 1, 7, 8, 255, 256, 257, 1023, 1024, 1025, 4096, 4097, 65536 + 3}
	if !b.k.Slow {
		list = append(list, 1<<20)
	}
	for _, mtu := range []rdma.MTU{rdma.MTU256, rdma.MTU1024, rdma.MTU4096} {
		t.Run(fmt.Sprint(mtu.Bytes()), func(t *testing.T) {
			b := newBench(t, b.k)
			x, y := b.connect(shape{mtu: mtu, memory: 4 << 20})
			for _, n := range list {
				const half = 2 << 20
				fill(x.mem[:n], n)
				for _, op := range []rdma.Op{rdma.OpSend, rdma.OpWrite} {
					clear(y.mem)
					y.recv(1, half, half)
					x.send(rdma.SendWR{ID: uint64(n), Op: op, Flags: rdma.FlagSignaled, SGL: x.sge(0, n), RKey: y.mr.RKey(), Addr: y.mr.Addr() + half})
					if wc := x.one(rdma.StatusSuccess); wc.ID != uint64(n) {
						t.Fatalf("%v of %d bytes: ID %d", op, n, wc.ID)
					}
					if op == rdma.OpSend {
						if wc := y.got(1)[0]; wc.Status != rdma.StatusSuccess || wc.Length != uint32(n) || wc.Op != rdma.WCRecv || wc.QPNum != y.qp.Num() {
							t.Fatalf("%v of %d bytes: %+v", op, n, wc)
						}
					}
					if !bytes.Equal(x.mem[:n], y.mem[half:half+n]) || !bytes.Equal(y.mem[half+n:half+n+64], make([]byte, 64)) {
						t.Fatalf("%v of %d bytes: not what was sent", op, n)
					}
				}
				fill(y.mem[:n], n+1)
				clear(x.mem[half:])
				x.send(rdma.SendWR{Op: rdma.OpRead, Flags: rdma.FlagSignaled, SGL: x.sge(half, n), RKey: y.mr.RKey(), Addr: y.mr.Addr()})
				if wc := x.one(rdma.StatusSuccess); wc.Op != rdma.WCRead || wc.Length != uint32(n) {
					t.Fatalf("READ of %d bytes: %+v", n, wc)
				}
				if !bytes.Equal(x.mem[half:half+n], y.mem[:n]) || !bytes.Equal(x.mem[half+n:half+n+64], make([]byte, 64)) {
					t.Fatalf("READ of %d bytes: not what is there", n)
				}
			}
		})
	}
}

// gather: pieces on both sides, some of them empty.
func gather(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	const total = 3000
	fill(x.mem[:total], 1)
	pieces := func(s *side, at int, lens ...int) (l []rdma.SGE) {
		for _, n := range lens {
			l = append(l, s.sge(at, n)...)
			at += n
		}
		return l
	}
	if _, st := y.qp.PostRecv([]rdma.RecvWR{{SGL: pieces(y, 100, 1, 1500, 0, 2000)}}); st != rdma.Posted {
		t.Fatal(st)
	}
	x.send(rdma.SendWR{Op: rdma.OpSend, Flags: rdma.FlagSignaled, SGL: pieces(x, 0, 1000, 0, 1, total-1001)})
	x.one(rdma.StatusSuccess)
	y.got(1)
	if !bytes.Equal(x.mem[:total], y.mem[100:100+total]) {
		t.Error("SEND: not what was sent")
	}
	x.send(rdma.SendWR{Op: rdma.OpRead, Flags: rdma.FlagSignaled, SGL: pieces(x, 10000, 5, 1024, total-1029), RKey: y.mr.RKey(), Addr: y.mr.Addr() + 100})
	x.one(rdma.StatusSuccess)
	if !bytes.Equal(x.mem[:total], x.mem[10000:10000+total]) {
		t.Error("READ: not what is there")
	}
}

func inline(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	most := min(64, x.dev.Attr().MaxInline)
	for n := 0; n <= most; n += max(1, most/8) {
		src := make([]byte, n)
		fill(src, n)
		want := bytes.Clone(src)
		x.send(rdma.SendWR{Op: rdma.OpWrite, Flags: rdma.FlagSignaled, Inline: src, RKey: y.mr.RKey(), Addr: y.mr.Addr()})
		fill(src, n+1) // it was copied
		x.one(rdma.StatusSuccess)
		if !bytes.Equal(y.mem[:n], want) {
			t.Errorf("%d bytes: %x, want %x", n, y.mem[:n], want)
		}
	}
	if _, st := x.qp.PostSend([]rdma.SendWR{{Op: rdma.OpWrite, Inline: make([]byte, x.dev.Attr().MaxInline+1)}}); st != rdma.BadWR {
		t.Errorf("more than fits: %v", st)
	}
}

func immediate(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	fill(x.mem[:5000], 2)
	for _, n := range []int{0, 10, 5000} {
		y.recv(1, 0, 5000)
		y.recv(2, 0, 0)
		x.send(rdma.SendWR{Op: rdma.OpSendImm, SGL: x.sge(0, n), Imm: 0xdeadbeef},
			rdma.SendWR{Op: rdma.OpWriteImm, Flags: rdma.FlagSignaled | rdma.FlagSolicited, SGL: x.sge(0, n), Imm: 7, RKey: y.mr.RKey(), Addr: y.mr.Addr() + 5000})
		if wc := x.one(rdma.StatusSuccess); wc.Op != rdma.WCWrite {
			t.Errorf("%+v", wc)
		}
		for i, want := range []rdma.WC{
			{ID: 1, Op: rdma.WCRecv, Flags: rdma.WCHasImm, Length: uint32(n), Imm: 0xdeadbeef},
			{ID: 2, Op: rdma.WCRecvWriteImm, Flags: rdma.WCHasImm, Length: uint32(n), Imm: 7},
		} {
			wc := y.got(1)[0]
			if wc.ID != want.ID || wc.Op != want.Op || wc.Flags != want.Flags || wc.Imm != want.Imm || wc.Length != want.Length {
				t.Errorf("%d of %d bytes: %+v, want %+v", i, n, wc, want)
			}
		}
		if !bytes.Equal(x.mem[:n], y.mem[:n]) || !bytes.Equal(x.mem[:n], y.mem[5000:5000+n]) {
			t.Errorf("%d bytes: not what was sent", n)
		}
	}
}

func atomics(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	ne := binary.NativeEndian
	ne.PutUint64(y.mem[64:], 100)
	at := rdma.SendWR{Flags: rdma.FlagSignaled, SGL: x.sge(8, 8), RKey: y.mr.RKey(), Addr: y.mr.Addr() + 64}
	do := func(op rdma.Op, compareAdd, swap uint64) uint64 {
		t.Helper()
		wr := at
		wr.Op, wr.CompareAdd, wr.Swap = op, compareAdd, swap
		x.send(wr)
		x.one(rdma.StatusSuccess)
		return ne.Uint64(x.mem[8:])
	}
	for _, c := range []struct {
		op               rdma.Op
		compareAdd, swap uint64
		old, now         uint64
	}{
		{rdma.OpFetchAdd, 5, 0, 100, 105},
		{rdma.OpFetchAdd, ^uint64(0), 7, 105, 104}, // the other field is not its own
		{rdma.OpCompareSwap, 1, 2, 104, 104},
		{rdma.OpCompareSwap, 104, 2, 104, 2},
	} {
		if old := do(c.op, c.compareAdd, c.swap); old != c.old || ne.Uint64(y.mem[64:]) != c.now {
			t.Errorf("%v: was %d, want %d; is %d, want %d", c.op, old, c.old, ne.Uint64(y.mem[64:]), c.now)
		}
	}
	// Many at a time, more than may be under way: each has an old value of its own.
	ne.PutUint64(y.mem[64:], 0)
	for i := range 32 {
		wr := at
		wr.Op, wr.CompareAdd, wr.SGL, wr.ID = rdma.OpFetchAdd, 1, x.sge(1024+8*i, 8), uint64(i)
		x.send(wr)
	}
	for i, wc := range x.sent(32) {
		if wc.ID != uint64(i) || ne.Uint64(x.mem[1024+8*i:]) != uint64(i) {
			t.Errorf("%d: ID %d, was %d", i, wc.ID, ne.Uint64(x.mem[1024+8*i:]))
		}
	}
}

// order: writes of one word one after the other, and a fenced send after a read.
func order(t *testing.T, b *bench) {
	x, y := b.connect(shape{})
	y.recv(1, 4096, 64)
	var wrs []rdma.SendWR
	for i := range 20 {
		wrs = append(wrs, rdma.SendWR{Op: rdma.OpWrite, Inline: []byte{byte(i), 0, 0, 0, 0, 0, 0, 0}, RKey: y.mr.RKey(), Addr: y.mr.Addr()})
	}
	wrs = append(wrs, rdma.SendWR{ID: 1, Op: rdma.OpRead, SGL: x.sge(0, 8), RKey: y.mr.RKey(), Addr: y.mr.Addr()},
		rdma.SendWR{ID: 2, Op: rdma.OpSend, Flags: rdma.FlagSignaled | rdma.FlagFence, SGL: x.sge(0, 8)})
	x.send(wrs...)
	if wc := x.one(rdma.StatusSuccess); wc.ID != 2 {
		t.Errorf("%+v", wc)
	}
	y.got(1)
	if x.mem[0] != 19 || y.mem[4096] != 19 {
		t.Errorf("read %d, sent after the fence %d, want 19", x.mem[0], y.mem[4096])
	}
}

// moderation: unsignaled ones are done when a later one is, and make no completion.
func moderation(t *testing.T, b *bench) {
	x, y := b.connect(shape{cap: rdma.QPCap{SendBlocks: 32}})
	for round := range 20 {
		for i := range 8 {
			wr := rdma.SendWR{ID: uint64(8*round + i), Op: rdma.OpWrite, SGL: x.sge(0, 100), RKey: y.mr.RKey(), Addr: y.mr.Addr()}
			if i == 7 {
				wr.Flags = rdma.FlagSignaled
			}
			x.send(wr)
		}
		if wc := x.one(rdma.StatusSuccess); wc.ID != uint64(8*round+7) {
			t.Fatalf("round %d: %+v", round, wc)
		}
	}
	b.settle()
	if len(x.sends) != 0 {
		t.Errorf("completions that nobody asked for: %v", x.sends)
	}
}

// blocks: exactly SendBlocks can be taken, and a poll gives them back.
func blocks(t *testing.T, b *bench) {
	x, y := b.connect(shape{cap: rdma.QPCap{SendBlocks: 16}, sigAll: true})
	wr := rdma.SendWR{Op: rdma.OpWrite, SGL: x.sge(0, 8), RKey: y.mr.RKey(), Addr: y.mr.Addr()}
	each := x.qp.Blocks(&wr)
	if each < 1 || each > x.dev.Attr().MaxWRBlocks {
		t.Fatalf("a work request of %d blocks", each)
	}
	for round := range 30 {
		n := 0
		for {
			k, st := x.qp.PostSend([]rdma.SendWR{wr})
			if st == rdma.Full {
				break
			}
			if n += k; st != rdma.Posted || n > 16 {
				t.Fatalf("round %d: %d posted, %v", round, n, st)
			}
		}
		if want := 16 / each; n < want {
			t.Fatalf("round %d: %d posted, want %d", round, n, want)
		}
		x.sent(n)
	}
}

// wrap: packet numbers cross 2^24 within a message of each kind.
func wrap(t *testing.T, b *bench) {
	for _, op := range []rdma.Op{rdma.OpSend, rdma.OpWrite, rdma.OpRead, rdma.OpFetchAdd} {
		t.Run(op.String(), func(t *testing.T) {
			b := newBench(t, b.k)
			x, y := b.connect(shape{mtu: rdma.MTU256, psn: [2]uint32{rdma.MaxNum - 5, rdma.MaxNum}})
			fill(x.mem[:2000], 1)
			fill(y.mem[100000:102000], 2)
			for i := range 4 {
				y.recv(uint64(i), 0, 2000)
				n := 2000
				if op.Atomic() {
					n = 8
				}
				x.send(rdma.SendWR{Op: op, Flags: rdma.FlagSignaled, SGL: x.sge(0, n), RKey: y.mr.RKey(), Addr: y.mr.Addr() + 100000})
				x.one(rdma.StatusSuccess)
			}
			if op == rdma.OpWrite && !bytes.Equal(x.mem[:2000], y.mem[100000:102000]) || op == rdma.OpSend && !bytes.Equal(x.mem[:2000], y.mem[:2000]) ||
				op == rdma.OpRead && !bytes.Equal(x.mem[:2000], y.mem[100000:102000]) {
				t.Error("not what was sent")
			}
		})
	}
}
