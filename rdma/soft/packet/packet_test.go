package packet_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/rdma/soft/packet"
)

var v4 = packet.Flow{Src: netip.MustParseAddrPort("10.77.0.1:49152"), Dst: netip.MustParseAddrPort("10.77.0.2:4791")}
var sum packet.Sum

var v6 = packet.Flow{Src: netip.MustParseAddrPort("[fe80::1]:49153"), Dst: netip.MustParseAddrPort("[fe80::2]:4791")}

// sample is a packet of an opcode with a value of its own in each field that it has.
func sample(op packet.Opcode, payload int) packet.Packet {
	p := packet.Packet{Opcode: op, Migrated: true, PKey: packet.DefaultPKey, DestQP: 0x112233, PSN: 0x445566}
	h := op.Has()
	if h&(packet.HasRETH|packet.HasAtomic) != 0 {
		p.VA, p.RKey = 0x0102030405060708, 0x090a0b0c
	}
	if h&packet.HasRETH != 0 {
		p.Len = 0x0d0e0f10
	}
	if h&packet.HasAtomic != 0 {
		p.Swap, p.Compare = 0x1112131415161718, 0x191a1b1c1d1e1f20
	}
	if h&packet.HasDETH != 0 {
		p.QKey, p.SrcQP = 0x21222324, 0x252627
	}
	if h&packet.HasAETH != 0 {
		p.Syndrome, p.MSN = packet.Ack(-1), 0x28292a
	}
	if h&packet.HasAtomicAck != 0 {
		p.Orig = 0x2b2c2d2e2f303132
	}
	if h&(packet.HasImm|packet.HasInv) != 0 {
		p.Imm = 0x33343536
	}
	p.Payload = []byte{}
	if h&packet.HasPayload != 0 {
		for i := range payload {
			p.Payload = append(p.Payload, byte('a'+i))
		}
	}
	p.AckReq = h&packet.Answer == 0 && h&(packet.Last|packet.Only) != 0
	p.Solicited = h&packet.HasImm != 0
	return p
}

// annotate writes a datagram as hex, a line for each header.
func annotate(op packet.Opcode, b []byte) string {
	var s strings.Builder
	line := func(name string, n int) {
		if n > 0 {
			fmt.Fprintf(&s, "%-12s %s\n", name, hex.EncodeToString(b[:n]))
		}
		b = b[n:]
	}
	pad := int(b[1] >> 4 & 3)
	fmt.Fprintf(&s, "# %v\n", op)
	line("BTH", 12)
	h := op.Has()
	for _, e := range []struct {
		bit  packet.Has
		name string
		n    int
	}{{packet.HasRETH, "RETH", 16}, {packet.HasAtomic, "AtomicETH", 28}, {packet.HasDETH, "DETH", 8}, {packet.HasAETH, "AETH", 4},
		{packet.HasAtomicAck, "AtomicAckETH", 8}, {packet.HasImm, "ImmDt", 4}, {packet.HasInv, "IETH", 4}} {
		if h&e.bit != 0 {
			line(e.name, e.n)
		}
	}
	line("payload", len(b)-4-pad)
	line("pad", pad)
	line("ICRC", 4)
	return s.String()
}

// TestGolden: a packet of each opcode, byte for byte, sealed for IPv4 and, the ICRC only, for IPv6.
func TestGolden(t *testing.T) {
	var got strings.Builder
	for _, op := range packet.Opcodes() {
		p := sample(op, 5)
		b := p.Append(nil)
		sum.Seal(v6, b, 0)
		six := hex.EncodeToString(b[len(b)-4:])
		sum.Seal(v4, b, 0)
		fmt.Fprintf(&got, "%s%-12s %s\n\n", annotate(op, b), "ICRC, IPv6", six)
		if len(b) != op.Len(len(p.Payload)) {
			t.Errorf("%v: %d bytes, Len says %d", op, len(b), op.Len(len(p.Payload)))
		}
		var back packet.Packet
		if err := back.Parse(b); err != nil {
			t.Fatalf("%v: %v", op, err)
		}
		if d := cmp.Diff(p, back); d != "" {
			t.Errorf("%v (-sent +parsed):\n%s", op, d)
		}
	}
	golden.Same(t, "testdata/packets.golden", got.String())
}

// slowICRC is the recipe written down once more, bit by bit, over a whole IPv4 or IPv6 packet.
func slowICRC(ip, udp, b []byte) uint32 {
	m := append(bytes.Repeat([]byte{0xff}, 8), ip...)
	if ip[0]>>4 == 4 {
		m[8+1], m[8+8], m[8+10], m[8+11] = 0xff, 0xff, 0xff, 0xff
	} else {
		m[8] |= 0x0f
		m[9], m[10], m[11], m[15] = 0xff, 0xff, 0xff, 0xff
	}
	at := len(m)
	m = append(m, udp...)
	m[at+6], m[at+7] = 0xff, 0xff
	at = len(m)
	m = append(m, b[:len(b)-4]...)
	m[at+4] = 0xff
	crc := ^uint32(0)
	for _, x := range m {
		crc ^= uint32(x)
		for range 8 {
			crc = crc>>1 ^ 0xedb88320*(crc&1)
		}
	}
	return ^crc
}

func TestICRC(t *testing.T) {
	for n := range 70 {
		p := sample(packet.WriteOnly, n)
		b := p.Append(nil)
		ip, _ := hex.DecodeString("450000001234400040110000" + "0a4d0001" + "0a4d0002")
		udp, _ := hex.DecodeString("c00012b700000000")
		binary.BigEndian.PutUint16(ip[2:], uint16(28+len(b)))
		binary.BigEndian.PutUint16(udp[4:], uint16(8+len(b)))
		if got, want := sum.ICRC(v4, b, 0x1234), slowICRC(ip, udp, b); got != want {
			t.Errorf("IPv4, %d bytes: %#x, want %#x", n, got, want)
		}
		ip, _ = hex.DecodeString("60012345" + "00001140" + "fe800000000000000000000000000001" + "fe800000000000000000000000000002")
		udp, _ = hex.DecodeString("c00112b700000000")
		binary.BigEndian.PutUint16(ip[4:], uint16(8+len(b)))
		binary.BigEndian.PutUint16(udp[4:], uint16(8+len(b)))
		if got, want := sum.ICRC(v6, b, 0), slowICRC(ip, udp, b); got != want {
			t.Errorf("IPv6, %d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// TestCheck: any identification is found, any changed bit too.
func TestCheck(t *testing.T) {
	for _, n := range []int{0, 1, 4, 100, 4096} {
		b := (&packet.Packet{Opcode: packet.SendOnly, Payload: make([]byte, n)}).Append(nil)
		for _, id := range []uint16{0, 1, 63, 64, 0x1234, 0xff00, 0xffff} {
			sum.Seal(v4, b, id)
			if !sum.Check(v4, b, 0, 0xffff) {
				t.Errorf("%d bytes, identification %#x: refused", n, id)
			}
			if got, want := sum.Check(v4, b, 7, 63), id < 64; got != want {
				t.Errorf("%d bytes, identification %#x of 63: %v", n, id, got)
			}
			if sum.Check(v6, b, 0, 0xffff) {
				t.Errorf("%d bytes: taken for another flow", n)
			}
		}
		sum.Seal(v4, b, 0)
		for bit := range len(b) * 8 {
			if bit/8 == 4 { // resv8a is not covered
				continue
			}
			b[bit/8] ^= 1 << (bit % 8)
			if sum.Check(v4, b, 7, 63) {
				t.Fatalf("%d bytes, bit %d: not noticed", n, bit)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
	if sum.Check(v4, nil, 0, 0) || sum.Check(v4, make([]byte, 15), 0, 0) {
		t.Error("no packet")
	}
}

// kernelPackets are what the kernel's device sent.
func kernelPackets(t testing.TB) (all [][]byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "kernel.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		p, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// TestKernel: packets that others made and sealed are taken, although nobody says for which identification; one changed bit is noticed by the
// 16 bits that are left but for once in 65,536 times.
func TestKernel(t *testing.T) {
	flow := packet.Flow{Src: netip.MustParseAddrPort("10.77.0.1:56793"), Dst: netip.MustParseAddrPort("10.77.0.2:4791")}
	var seen []packet.Opcode
	for _, b := range kernelPackets(t) {
		var p packet.Packet
		if err := p.Parse(b); err != nil {
			t.Errorf("%x: %v", b, err)
			continue
		}
		seen = append(seen, p.Opcode)
		if !sum.Check(flow, b, 0, 0xffff) || sum.Check(flow.Reverse(), b, 0, 63) {
			t.Errorf("%v: refused, or taken from another", &p)
		}
		for bit := range len(b) * 8 {
			if b[bit/8] ^= 1 << (bit % 8); bit/8 != 4 && sum.Check(flow, b, 0, 0xffff) {
				t.Errorf("%v: bit %d: not noticed", &p, bit)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
	if len(seen) < 10 {
		t.Errorf("%d packets", len(seen))
	}
}

func TestSyndromes(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 4, 32768} {
		if got := packet.Ack(n).Credits(); got != n {
			t.Errorf("Ack(%d) allows %d", n, got)
		}
	}
	if got := packet.Ack(100).Credits(); got != 96 {
		t.Errorf("Ack(100) allows %d", got)
	}
	if s := packet.RNR(31); !s.IsRNR() || s.IsAck() || s.IsNak() || s.Timer() != 31 {
		t.Errorf("%v", s)
	}
	if packet.NakSequence != 0x60 || packet.NakOperation != 0x63 || !packet.NakAccess.IsNak() {
		t.Error("refusals have the standard's numbers")
	}
}

// FuzzParse: no bytes make Parse panic, and what it accepts is written again as it was.
func FuzzParse(f *testing.F) {
	for _, op := range packet.Opcodes() {
		p := sample(op, 7)
		f.Add(p.Append(nil))
	}
	for _, b := range kernelPackets(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		sum.Check(v4, b, 0, 0xffff)
		var p packet.Packet
		if p.Parse(b) != nil {
			return
		}
		again := p.Append(nil)
		want := bytes.Clone(b)
		want[4], want[8] = 0, want[8]&0x80 // reserved
		if op := p.Opcode.Has(); op&packet.HasDETH != 0 {
			want[12+4] = 0
		}
		for i := len(p.Payload) + p.Opcode.HeaderLen(); i < len(want); i++ {
			want[i] = 0 // pad and ICRC
		}
		if !bytes.Equal(again, want) {
			t.Errorf("%v\ngot  %x\nwant %x", &p, again, want)
		}
	})
}

func BenchmarkICRC(b *testing.B) {
	p := sample(packet.WriteMiddle, 0)
	p.Payload = make([]byte, 4096)
	d := p.Append(nil)
	b.SetBytes(4096)
	for b.Loop() {
		sum.Seal(v4, d, 0)
	}
}

func BenchmarkIdentification(b *testing.B) {
	p := sample(packet.WriteMiddle, 0)
	p.Payload = make([]byte, 1024)
	d := p.Append(nil)
	sum.Seal(v4, d, 0xabcd)
	for b.Loop() {
		if !sum.Check(v4, d, 0, 0xffff) {
			b.Fatal("refused")
		}
	}
}
