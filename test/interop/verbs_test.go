//go:build linux && interop

package interop

import (
	"bufio"
	"bytes"
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/udp"
)

// peer is the program on the other machine.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// ask sends a line, and turns our device until there is an answer.
func (p *peer) ask(s *side, format string, args ...any) (v []uint64) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.conn, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
	lines := make(chan string, 1)
	go func() {
		line, _ := p.in.ReadString('\n')
		lines <- line
	}()
	for end := time.Now().Add(time.Minute); ; {
		select {
		case line := <-lines:
			f := strings.Fields(line)
			if len(f) == 0 || f[0] != "ok" {
				p.t.Fatalf(format+": %q", append(args, line)...)
			}
			for _, x := range f[1:] {
				var n uint64
				if _, err := fmt.Sscan(x, &n); err != nil {
					p.t.Fatal(err)
				}
				v = append(v, n)
			}
			return v
		default:
			s.dev.Progress()
			if time.Now().After(end) {
				p.t.Fatalf(format+": no answer; %+v", append(args, s.dev.Stats())...)
			}
		}
	}
}

// side is our end.
type side struct {
	t   *testing.T
	dev *soft.Device
	cq  rdma.CQ
	qp  rdma.QP
	mr  rdma.MR
}

func newSide(t *testing.T, local string) *side {
	c, err := udp.Open(netip.AddrPortFrom(netip.MustParseAddr(local), rdma.RoCEPort), udp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	d, err := soft.Open(soft.Config{Carrier: c, Now: func() time.Duration { return time.Since(begin) }, Rand: func() uint64 {
		var b [8]byte
		_, _ = crand.Read(b[:])
		return binary.NativeEndian.Uint64(b[:])
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	s := &side{t: t, dev: d}
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	if s.cq, err = d.CreateCQ(256); err != nil {
		t.Fatal(err)
	}
	if s.mr, err = pd.RegMR(make([]byte, 1<<20), rdma.AccessLocalWrite|rdma.AccessRemote); err != nil {
		t.Fatal(err)
	}
	s.qp, err = pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: s.cq, RecvCQ: s.cq, Cap: rdma.QPCap{SendBlocks: 64, RecvWR: 32, SendSGE: 1, RecvSGE: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *side) step(a rdma.QPAttr, m rdma.AttrMask) {
	s.t.Helper()
	if err := s.qp.Modify(a, m); err != nil {
		s.t.Fatal(err)
	}
}

// one waits for a completion, which must be a success.
func (s *side) one() rdma.WC {
	s.t.Helper()
	var wc [1]rdma.WC
	for end := time.Now().Add(time.Minute); s.cq.Poll(wc[:]) == 0; {
		s.dev.Progress()
		if time.Now().After(end) {
			s.t.Fatalf("no completion: %+v %+v", s.qp.Query(), s.dev.Stats())
		}
	}
	if wc[0].Status != rdma.StatusSuccess {
		s.t.Fatalf("%v; %+v", wc[0].Status, s.dev.Stats())
	}
	return wc[0]
}

func (s *side) sge(n int) []rdma.SGE {
	return []rdma.SGE{{Addr: s.mr.Addr(), Length: uint32(n), LKey: s.mr.LKey()}}
}

// pattern is what the peer's fill writes.
func pattern(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8*13 + seed)
	}
	return b
}

func sum(b []byte) uint64 {
	h := uint32(2166136261)
	for _, x := range b {
		h = (h ^ uint32(x)) * 16777619
	}
	return uint64(h)
}

// TestVerbs: SEND, WRITE, READ and atomics, in both directions, with a device of libibverbs.
func TestVerbs(t *testing.T) {
	at, local := os.Getenv("BRAID_VERBS_PEER"), os.Getenv("BRAID_VERBS_LOCAL")
	if at == "" || local == "" {
		t.Fatal("BRAID_VERBS_PEER and BRAID_VERBS_LOCAL must name the two ends: see doc.go")
	}
	var conn net.Conn
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if conn, err = net.Dial("tcp", at); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, conn: conn, in: bufio.NewReader(conn)}
	s := newSide(t, local)
	var qpn, psn, rkey uint32
	var addr uint64
	line, err := p.in.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &qpn, &psn, &rkey, &addr); err != nil {
		t.Fatal(err)
	}
	host, _ := netip.ParseAddrPort(at)
	const mine = rdma.MaxNum - 20 // wraps soon
	s.step(rdma.QPAttr{State: rdma.Init, Access: rdma.AccessRemote}, rdma.MaskAccess)
	s.step(rdma.QPAttr{State: rdma.RTR, AV: rdma.AHAttr{DGID: rdma.GIDFrom(host.Addr())}, PathMTU: rdma.MTU1024, DestQPN: qpn, RQPSN: psn, MaxDestReads: 4, MinRNRTimer: 12},
		rdma.MaskAV|rdma.MaskPathMTU|rdma.MaskDestQPN|rdma.MaskRQPSN|rdma.MaskMaxDestReads|rdma.MaskMinRNRTimer)
	s.step(rdma.QPAttr{State: rdma.RTS, SQPSN: mine, Timeout: 16, RetryCount: 7, RNRRetry: 7, MaxReads: 4},
		rdma.MaskSQPSN|rdma.MaskTimeout|rdma.MaskRetryCount|rdma.MaskRNRRetry|rdma.MaskMaxReads)
	p.ask(s, "%d %d %d %d %s", s.qp.Num(), mine, s.mr.RKey(), s.mr.Addr(), local)
	b := &both{t: t, p: p, s: s, rkey: rkey, addr: addr}
	for i, n := range []int{0, 1, 1023, 1024, 1025, 5000, 100000} {
		b.ours(i, n)
		b.theirs(i, n)
	}
	b.atomics()
	t.Logf("%+v", s.dev.Stats())
}

// both is the connection.
type both struct {
	t    *testing.T
	p    *peer
	s    *side
	rkey uint32
	addr uint64
}

func (b *both) do(wr rdma.SendWR) {
	b.t.Helper()
	wr.Flags, wr.RKey, wr.Addr = rdma.FlagSignaled, b.rkey, b.addr
	if _, st := b.s.qp.PostSend([]rdma.SendWR{wr}); st != rdma.Posted {
		b.t.Fatal(st)
	}
	b.s.one()
}

// ours are operations that we ask for.
func (b *both) ours(i, n int) {
	b.t.Helper()
	s, p, mem := b.s, b.p, b.s.mr.Bytes()
	for k, op := range []rdma.Op{rdma.OpSend, rdma.OpSendImm, rdma.OpWrite} {
		p.ask(s, "fill 0 %d", n)
		copy(mem, pattern(10*i+k+1, n))
		if op.Sends() {
			p.ask(s, "recv %d", n)
		}
		b.do(rdma.SendWR{Op: op, SGL: s.sge(n), Imm: 0x01020304})
		if op.Sends() {
			if v := p.ask(s, "got"); v[0] != 0 || v[1] != uint64(n) || op == rdma.OpSendImm && v[2] != 0x01020304 {
				b.t.Errorf("%v of %d bytes: peer's completion %v", op, n, v)
			}
		}
		if got := p.ask(s, "sum %d", n); got[0] != sum(mem[:n]) {
			b.t.Errorf("%v of %d bytes: not what was sent", op, n)
		}
	}
	p.ask(s, "fill %d %d", i+100, n)
	clear(mem)
	b.do(rdma.SendWR{Op: rdma.OpRead, SGL: s.sge(n)})
	if !bytes.Equal(mem[:n], pattern(i+100, n)) {
		b.t.Errorf("READ of %d bytes: not what is there", n)
	}
}

// theirs are operations that the peer asks for.
func (b *both) theirs(i, n int) {
	b.t.Helper()
	s, p, mem := b.s, b.p, b.s.mr.Bytes()
	ok := func(what string) {
		b.t.Helper()
		if v := p.ask(s, "%s %d", what, n); v[0] != 0 {
			b.t.Fatalf("peer's %s of %d bytes: status %d; %+v", what, n, v[0], s.dev.Stats())
		}
	}
	for _, what := range []string{"send", "write"} {
		p.ask(s, "fill %d %d", i+50, n)
		clear(mem)
		if what == "send" {
			if _, st := s.qp.PostRecv([]rdma.RecvWR{{SGL: s.sge(n)}}); st != rdma.Posted {
				b.t.Fatal(st)
			}
		}
		ok(what)
		if what == "send" {
			if wc := s.one(); wc.Length != uint32(n) {
				b.t.Errorf("%+v", wc)
			}
		}
		if !bytes.Equal(mem[:n], pattern(i+50, n)) {
			b.t.Errorf("peer's %s of %d bytes: not what was sent", what, n)
		}
	}
	copy(mem, pattern(i+70, n))
	ok("read")
	if got := p.ask(s, "sum %d", n); got[0] != sum(mem[:n]) {
		b.t.Errorf("peer's read of %d bytes: not what is there", n)
	}
}

// atomics count up in both directions.
func (b *both) atomics() {
	b.t.Helper()
	s, mem, ne := b.s, b.s.mr.Bytes(), binary.NativeEndian
	ne.PutUint64(mem, 5)
	if v := b.p.ask(s, "fadd 7"); v[0] != 0 || ne.Uint64(mem) != 12 {
		b.t.Errorf("peer's fetch-add: status %d, counter %d", v[0], ne.Uint64(mem))
	}
	b.p.ask(s, "fill 0 8")
	old := ne.Uint64(pattern(0, 8))
	b.do(rdma.SendWR{Op: rdma.OpFetchAdd, SGL: s.sge(8), CompareAdd: 3})
	if ne.Uint64(mem) != old {
		b.t.Errorf("fetch-add: was %#x, want %#x", ne.Uint64(mem), old)
	}
	b.do(rdma.SendWR{Op: rdma.OpCompareSwap, SGL: s.sge(8), CompareAdd: old + 3, Swap: 9})
	if ne.Uint64(mem) != old+3 {
		b.t.Errorf("compare-and-swap: was %#x, want %#x", ne.Uint64(mem), old+3)
	}
	b.do(rdma.SendWR{Op: rdma.OpRead, SGL: s.sge(8)})
	if ne.Uint64(mem) != 9 {
		b.t.Errorf("after both: %d, want 9", ne.Uint64(mem))
	}
}
