//go:build linux

package soft_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/udp"
)

// shark is tshark, or the test is skipped.
func shark(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("tshark")
	if err != nil {
		if os.Getenv("BRAID_NO_SKIP") != "" {
			t.Fatal("no tshark here, and BRAID_NO_SKIP is set")
		}
		t.Skip("tshark is not installed")
	}
	return path
}

// fields has tshark read a capture, and returns a line for each packet.
func fields(t *testing.T, file string, port uint16, names ...string) []string {
	t.Helper()
	args := []string{"-r", file, "-o", fmt.Sprintf("infiniband.rroce.port:%d", port), "-T", "fields", "-E", "separator=|"}
	for _, n := range names {
		args = append(args, "-e", n)
	}
	cmd := exec.Command(shark(t), args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v\n%s", err, errs.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// seen is what we say that a packet is, in tshark's words.
func seen(b []byte) string {
	var p packet.Packet
	if err := p.Parse(b); err != nil {
		return err.Error()
	}
	h := p.Opcode.Has()
	opt := func(bit packet.Has, format string, v any) string {
		if h&bit == 0 {
			return ""
		}
		return fmt.Sprintf(format, v)
	}
	return strings.Join([]string{
		strconv.Itoa(int(p.Opcode)), strconv.Itoa(int(p.PSN)), fmt.Sprintf("0x%06x", p.DestQP),
		opt(packet.HasRETH, "%d", p.Len), opt(packet.HasAETH, "%d", p.Syndrome), opt(packet.HasAETH, "%d", p.MSN),
		opt(packet.HasImm, "%08x", p.Imm), opt(packet.HasDETH, "0x%06x", p.SrcQP), "",
	}, "|")
}

var sharkFields = []string{"infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.reth.dmalen",
	"infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.immdt", "infiniband.deth.srcqp", "_ws.malformed"}

// everything does each operation once over a connection, and a datagram.
func everything(t *testing.T, l *link, tick func()) {
	t.Helper()
	wait := func(i, n int) {
		for end := time.Now().Add(2 * time.Minute); n > 0; {
			n -= l.turn(t, i)
			if tick != nil {
				tick()
			}
			if time.Now().After(end) {
				t.Fatal("no completion in two minutes")
			}
		}
	}
	for range 3 {
		if _, st := l.qp[1].PostRecv([]rdma.RecvWR{{SGL: []rdma.SGE{{Addr: l.mr[1].Addr(), Length: 10000, LKey: l.mr[1].LKey()}}}}); st != rdma.Posted {
			t.Fatal(st)
		}
	}
	to := func(op rdma.Op, n uint32) rdma.SendWR {
		return rdma.SendWR{Op: op, Flags: rdma.FlagSignaled, SGL: []rdma.SGE{{Addr: l.mr[0].Addr(), Length: n, LKey: l.mr[0].LKey()}},
			RKey: l.mr[1].RKey(), Addr: l.mr[1].Addr(), Imm: 0x01020304}
	}
	wrs := []rdma.SendWR{to(rdma.OpSend, 9001), to(rdma.OpSendImm, 10), to(rdma.OpWrite, 9001), to(rdma.OpWriteImm, 3),
		to(rdma.OpRead, 9002), to(rdma.OpFetchAdd, 8), to(rdma.OpCompareSwap, 8), to(rdma.OpWrite, 0)}
	if n, st := l.qp[0].PostSend(wrs); n != len(wrs) {
		t.Fatal(n, st)
	}
	wait(0, len(wrs))
}

// TestDissected: tshark, which knows nothing of us, sees in our capture what we meant.
func TestDissected(t *testing.T) {
	shark(t)
	for _, ip := range []string{"10.0.0.%d:4791", "[fd00::%d]:4791"} {
		w := newWorld(3, fabric.Config{})
		file := filepath.Join(t.TempDir(), "tap.pcap")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		tap := packet.NewTap(f)
		var want []string
		w.net.Watch(func(at time.Duration, flow packet.Flow, b []byte) {
			want = append(want, seen(b))
			tap.Datagram(at, flow, b)
		})
		everything(t, connect(t, w.bare(t, fmt.Sprintf(ip, 1)), w.bare(t, fmt.Sprintf(ip, 2)), 16384), w.tick)
		if err := tap.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if len(want) < 15 {
			t.Fatalf("%d packets only", len(want))
		}
		got := fields(t, file, 4791, sharkFields...)
		for i, line := range got { // the immediate stands there twice, or once, by version
			f := strings.Split(line, "|")
			f[6] = f[6][strings.LastIndexByte(f[6], ',')+1:]
			got[i] = strings.Join(f, "|")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-ours +tshark's):\n%s", ip, d)
		}
	}
}

// TestLiveCapture: what really passes on loopback has the identification and flags for which it was sealed.
func TestLiveCapture(t *testing.T) {
	path := shark(t)
	if os.Geteuid() != 0 {
		if os.Getenv("BRAID_NO_SKIP") != "" {
			t.Fatal("not root, and BRAID_NO_SKIP is set")
		}
		t.Skip("capturing needs root")
	}
	x, _ := onSocket(t, "127.0.0.1:0", udp.Options{NoSegment: true})
	port := x.Addr().Port()
	y, _ := onSocket(t, fmt.Sprintf("127.0.0.2:%d", port), udp.Options{NoSegment: true})
	file := filepath.Join(t.TempDir(), "live.pcap")
	cmd := exec.Command(path, "-i", "lo", "-f", fmt.Sprintf("udp port %d", port), "-c", "20", "-w", file, "-q", "-a", "duration:120")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	l := connect(t, x, y, 16384)
	// It captures at some time from now on: there is traffic until it has enough.
	for end := time.Now().Add(2 * time.Minute); ; {
		everything(t, l, nil)
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("tshark: %v\n%s", err, errs.String())
			}
		case <-time.After(50 * time.Millisecond):
			if time.Now().After(end) {
				t.Fatalf("nothing captured in two minutes\n%s", errs.String())
			}
			continue
		}
		break
	}
	var sum packet.Sum
	for _, line := range fields(t, file, port, "ip.src", "udp.srcport", "ip.dst", "udp.dstport", "ip.id", "ip.flags.df", "udp.payload", "_ws.malformed") {
		f := strings.Split(line, "|")
		b, err := hex.DecodeString(f[6])
		if err != nil || len(b) < 16 {
			t.Fatalf("%q: %v", line, err)
		}
		id, _ := strconv.ParseUint(f[4], 0, 16)
		flow := packet.Flow{Src: netip.MustParseAddrPort(f[0] + ":" + f[1]), Dst: netip.MustParseAddrPort(f[2] + ":" + f[3])}
		if f[5] != "1" && f[5] != "True" || f[7] != "" || !sum.Check(flow, b, uint16(id), 0xffff) || uint16(id) != 0 {
			t.Errorf("%v: identification %#x, DF %s, malformed %q, or its ICRC is wrong", flow, id, f[5], f[7])
		}
	}
}
