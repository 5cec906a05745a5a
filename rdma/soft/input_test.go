package soft_test

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// lab is a connection whose second port is ours: packets are put there by hand.
type lab struct {
	w    *world
	l    *link
	port *fabric.Port // of side b
	full *full        // in front of it
	peer netip.AddrPort
}

// full is a carrier that may have no room.
type full struct {
	carrier.Carrier
	now bool
}

// Send implements carrier.Carrier.
func (f *full) Send(batch []carrier.Out) int {
	if f.now {
		return 0
	}
	return f.Carrier.Send(batch)
}

// labBytes is the memory of a side: more than fits into a packet of any path MTU.
const labBytes = 16 << 10

func newLab(t testing.TB) *lab {
	w := newWorld(7, fabric.Config{})
	var ports [2]*fabric.Port
	var devs [2]*soft.Device
	var front *full
	for i, a := range []string{"10.0.0.1:5001", "10.0.0.2:5002"} {
		p, err := w.net.Port(netip.MustParseAddrPort(a))
		if err != nil {
			t.Fatal(err)
		}
		ports[i], front = p, &full{Carrier: p}
		if devs[i], err = soft.Open(soft.Config{Carrier: front, Now: w.net.Now, Rand: w.rand.Uint64}); err != nil {
			t.Fatal(err)
		}
	}
	return &lab{w: w, l: connect(t, devs[0], devs[1], labBytes), port: ports[1], full: front, peer: devs[0].Addr()}
}

// inject gives side b a packet from its peer, or from somebody else.
func (l *lab) inject(from netip.AddrPort, p *packet.Packet) {
	if p.PKey == 0 {
		p.PKey = packet.DefaultPKey
	}
	l.port.Inject(from, p.Append(nil), true)
	l.l.dev[1].Progress()
}

// TestStrangers: what doesn't come from the peer, for a queue pair that there is, whole, changes nothing and is counted.
func TestStrangers(t *testing.T) {
	good := func(l *lab) packet.Packet {
		return packet.Packet{Opcode: packet.WriteOnly, DestQP: l.l.qp[1].Num(), RKey: l.l.mr[1].RKey(), VA: l.l.mr[1].Addr(), Len: 4, Payload: []byte("evil")}
	}
	for _, c := range []struct {
		name  string
		do    func(*lab)
		count func(soft.Stats) uint64
	}{
		{"other address", func(l *lab) {
			p := good(l)
			l.inject(netip.MustParseAddrPort("10.0.0.9:5001"), &p)
		}, func(s soft.Stats) uint64 { return s.WrongPeer }},
		{"other port", func(l *lab) {
			p := good(l)
			l.inject(netip.MustParseAddrPort("10.0.0.1:5009"), &p)
		}, func(s soft.Stats) uint64 { return s.WrongPeer }},
		{"other queue pair", func(l *lab) {
			p := good(l)
			p.DestQP ^= 1
			l.inject(l.peer, &p)
		}, func(s soft.Stats) uint64 { return s.UnknownQP }},
		{"other partition", func(l *lab) {
			p := good(l)
			p.PKey = 0x8001
			l.inject(l.peer, &p)
		}, func(s soft.Stats) uint64 { return s.BadPacket }},
		{"not sealed", func(l *lab) {
			p := good(l)
			p.PKey = packet.DefaultPKey
			l.port.Inject(l.peer, p.Append(nil), false)
			l.l.dev[1].Progress()
		}, func(s soft.Stats) uint64 { return s.BadICRC }},
		{"sealed for an identification that the peer's carrier doesn't give", func(l *lab) {
			p := good(l)
			p.PKey = packet.DefaultPKey
			b, sum := p.Append(nil), packet.Sum{}
			sum.Seal(packet.Flow{Src: l.peer, Dst: l.l.dev[1].Addr()}, b, 1)
			l.port.Inject(l.peer, b, false)
			l.l.dev[1].Progress()
		}, func(s soft.Stats) uint64 { return s.BadICRC }},
		{"datagram to a connection", func(l *lab) {
			l.inject(l.peer, &packet.Packet{Opcode: packet.UDSendOnly, DestQP: l.l.qp[1].Num(), Payload: []byte("evil")})
		}, func(s soft.Stats) uint64 { return s.BadPacket }},
		{"answer that nobody asked for", func(l *lab) {
			l.inject(l.peer, &packet.Packet{Opcode: packet.ReadOnly, DestQP: l.l.qp[1].Num(), Payload: []byte("evil")})
		}, func(s soft.Stats) uint64 { return s.BadAnswers }},
		{"refusal of what was never sent", func(l *lab) {
			l.inject(l.peer, &packet.Packet{Opcode: packet.Acknowledge, DestQP: l.l.qp[1].Num(), Syndrome: packet.NakAccess})
		}, func(s soft.Stats) uint64 { return s.BadAnswers }},
		{"no packet", func(l *lab) {
			l.port.Inject(l.peer, []byte("hello"), false)
			l.l.dev[1].Progress()
		}, func(s soft.Stats) uint64 { return s.BadPacket }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			c.do(l)
			if got := c.count(l.l.dev[1].Stats()); got != 1 {
				t.Errorf("counted %d: %+v", got, l.l.dev[1].Stats())
			}
			if !bytes.Equal(l.l.mr[1].Bytes(), make([]byte, labBytes)) || l.l.qp[1].State() != rdma.RTS {
				t.Errorf("memory has changed, or the state: %v", l.l.qp[1].State())
			}
			l.l.post(t, 0, 8)
			for l.l.turn(t, 0) == 0 {
			}
		})
	}
}

// TestNumbersAreRandom: of queue pairs, keys and addresses none says anything about the next.
func TestNumbersAreRandom(t *testing.T) {
	l := newLab(t)
	pd, err := l.l.dev[0].AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	const n = 64
	var last [4]uint64
	near, high := 0, [4]uint64{}
	for i := range n {
		q, err := pd.CreateQP(rdma.QPInit{Type: rdma.TypeRC, SendCQ: l.l.cq[0], RecvCQ: l.l.cq[0]})
		if err != nil {
			t.Fatal(err)
		}
		mr, err := pd.RegMR(make([]byte, 4096), rdma.AccessLocalWrite|rdma.AccessRemote)
		if err != nil {
			t.Fatal(err)
		}
		now := [4]uint64{uint64(q.Num()), uint64(mr.RKey()), uint64(mr.LKey()), mr.Addr()}
		for k, v := range now {
			if d := int64(v - last[k]); i > 0 && d > -4096*n && d < 4096*n {
				near++
			}
			high[k] |= v
		}
		last = now
	}
	if near > 8 { // a queue pair's number has 24 bits
		t.Errorf("%d numbers of %d are near the one before", near, 4*n)
	}
	for k, bits := range []int{24, 32, 32, 62} {
		if high[k]>>(bits-1) != 1 {
			t.Errorf("number %d has other than %d bits: %#x", k, bits, high[k])
		}
	}
}

// TestRepeatOfWhatIsGone: a READ that is asked for again, and whose memory goes before there was room to answer, is an old packet like one that
// comes later: no refusal, which would end a healthy connection. One that is asked for the first time is refused.
func TestRepeatOfWhatIsGone(t *testing.T) {
	for _, repeat := range []bool{true, false} {
		l := newLab(t)
		q, mr := l.l.qp[1], l.l.mr[1]
		read := packet.Packet{Opcode: packet.ReadRequest, DestQP: q.Num(), RKey: mr.RKey(), VA: mr.Addr(), Len: 100}
		if repeat {
			l.inject(l.peer, &read)
		}
		l.full.now = true
		psn := q.Query().RQPSN
		for range 64 { // their acknowledgements fill the batch that can't leave
			l.inject(l.peer, &packet.Packet{Opcode: packet.WriteOnly, DestQP: q.Num(), PSN: psn, AckReq: true})
			psn = rdma.PSNAdd(psn, 1)
		}
		if !repeat {
			read.PSN = psn
		}
		l.inject(l.peer, &read)
		if err := mr.Deregister(); err != nil {
			t.Fatal(err)
		}
		l.full.now = false
		l.l.dev[1].Progress()
		want := rdma.RTS
		if !repeat {
			want = rdma.Err
		}
		if st := q.State(); st != want {
			t.Errorf("repeat %v: the queue pair is in %v, want %v", repeat, st, want)
		}
	}
}

// TestSequences: packets of the peer that don't go together are refused as the standard says, and end the connection.
func TestSequences(t *testing.T) {
	full := make([]byte, 4100)
	send := func(op packet.Opcode, n int) packet.Packet { return packet.Packet{Opcode: op, Payload: full[:n]} }
	for _, c := range []struct {
		name    string
		packets []packet.Packet
		want    packet.Syndrome
	}{
		{"middle without first", []packet.Packet{send(packet.WriteMiddle, 4096)}, packet.NakRequest},
		{"last without first", []packet.Packet{send(packet.SendLast, 4)}, packet.NakRequest},
		{"first that isn't full", []packet.Packet{send(packet.SendFirst, 4)}, packet.NakRequest},
		{"only that is more than full", []packet.Packet{{Opcode: packet.WriteOnly, Len: 4100, Payload: full}}, packet.NakRequest},
		{"middle that isn't full", []packet.Packet{send(packet.SendFirst, 4096), send(packet.SendMiddle, 4)}, packet.NakRequest},
		{"last that is more than full", []packet.Packet{send(packet.SendFirst, 4096), send(packet.SendLast, 4100)}, packet.NakRequest},
		{"atomic within a send", []packet.Packet{send(packet.SendFirst, 4096), {Opcode: packet.FetchAdd}}, packet.NakRequest},
		{"first within", []packet.Packet{send(packet.SendFirst, 4096), send(packet.SendFirst, 4096)}, packet.NakRequest},
		{"only within", []packet.Packet{send(packet.SendFirst, 4096), send(packet.SendOnly, 4)}, packet.NakRequest},
		{"write within a send", []packet.Packet{send(packet.SendFirst, 4096), send(packet.WriteLast, 4)}, packet.NakRequest},
		{"read within a send", []packet.Packet{send(packet.SendFirst, 4096), {Opcode: packet.ReadRequest}}, packet.NakRequest},
		{"empty last", []packet.Packet{send(packet.SendFirst, 4096), send(packet.SendLast, 0)}, packet.NakRequest},
		{"write longer than it said", []packet.Packet{{Opcode: packet.WriteOnly, Len: 3, Payload: full[:4]}}, packet.NakRequest},
		{"write shorter than it said", []packet.Packet{{Opcode: packet.WriteOnly, Len: 5, Payload: full[:4]}}, packet.NakRequest},
		{"read beyond", []packet.Packet{{Opcode: packet.ReadRequest, Len: labBytes + 1}}, packet.NakAccess},
		{"huge read", []packet.Packet{{Opcode: packet.ReadRequest, Len: 1<<32 - 1}}, packet.NakRequest},
		{"unaligned atomic", []packet.Packet{{Opcode: packet.FetchAdd, VA: 1}}, packet.NakRequest},
		{"send that ends no window", []packet.Packet{{Opcode: packet.SendOnlyInv, Imm: 5}}, packet.NakAccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			for range 4 {
				if _, st := l.l.qp[1].PostRecv([]rdma.RecvWR{{SGL: []rdma.SGE{{Addr: l.l.mr[1].Addr(), Length: labBytes, LKey: l.l.mr[1].LKey()}}}}); st != rdma.Posted {
					t.Fatal(st)
				}
			}
			l.l.dev[0].Progress()
			spy := &witness{}
			l.w.net.Watch(spy.see)
			for i, p := range c.packets {
				p.DestQP, p.PSN = l.l.qp[1].Num(), uint32(i)
				p.RKey, p.VA = l.l.mr[1].RKey(), p.VA+l.l.mr[1].Addr()
				l.inject(l.peer, &p)
			}
			if !spy.saw(c.want) {
				t.Errorf("answered %v, want %v", spy.answers, c.want)
			}
			said := rdma.EventQPRequest
			if c.want == packet.NakAccess {
				said = rdma.EventQPAccess
			}
			if got := events(l.l.dev[1]); l.l.qp[1].State() != rdma.Err || !slices.Contains(got, said) {
				t.Errorf("state %v, events %v", l.l.qp[1].State(), got)
			}
		})
	}
}

// witness remembers the answers that pass.
type witness struct{ answers []packet.Syndrome }

func (w *witness) see(_ time.Duration, _ packet.Flow, b []byte) {
	var p packet.Packet
	if p.Parse(b) == nil && p.Opcode == packet.Acknowledge {
		w.answers = append(w.answers, p.Syndrome)
	}
}

func (w *witness) saw(s packet.Syndrome) bool {
	for _, a := range w.answers {
		if a == s {
			return true
		}
	}
	return false
}

// FuzzDevice: bytes from the peer's address, sealed and for the right queue pair, never make a device panic, and never
// write outside of what they have the key of.
func FuzzDevice(f *testing.F) {
	for _, op := range packet.Opcodes() {
		f.Add([]byte{byte(op), 0, 0, 0, 4, 1, 2, 3, 4})
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		l := newLab(t)
		qp, mr := l.l.qp[1], l.l.mr[1]
		for i := range 3 {
			_, _ = qp.PostRecv([]rdma.RecvWR{{ID: uint64(i), SGL: []rdma.SGE{{Addr: mr.Addr(), Length: 1024, LKey: mr.LKey()}}}})
			l.l.post(t, 1, 100*i)
		}
		// Each packet: opcode, offset of the packet number, flags, key or not, length, and luck for the rest.
		for len(script) >= 5 {
			luck := rand.New(rand.NewPCG(uint64(script[1])<<8|uint64(script[4]), uint64(script[3])))
			p := packet.Packet{
				Opcode: packet.Opcode(script[0]), PSN: rdma.PSNAdd(qp.Query().RQPSN, int(int8(script[1]))), DestQP: qp.Num(), AckReq: script[2]&1 != 0,
				VA: mr.Addr() + luck.Uint64N(1100), Len: luck.Uint32N(1200), RKey: mr.RKey(), Swap: luck.Uint64(), Syndrome: packet.Syndrome(luck.Uint32()),
				MSN: luck.Uint32N(8), Imm: luck.Uint32(),
			}
			if p.Opcode.Has() == 0 {
				return
			}
			if p.Opcode.Has()&packet.Answer != 0 {
				p.PSN = luck.Uint32N(5)
			}
			if script[3]&7 == 1 {
				p.RKey = luck.Uint32()
			}
			if script[3]&7 == 2 {
				p.VA = luck.Uint64()
			}
			if p.Opcode.Has()&packet.HasPayload != 0 {
				p.Payload = bytes.Repeat([]byte{0xee}, []int{0, 1, int(p.Len), 1000, 4096}[script[2]>>1%5])
			}
			l.inject(l.peer, &p)
			l.l.dev[0].Progress()
			var wc [16]rdma.WC
			l.l.cq[1].Poll(wc[:])
			script = script[5:]
		}
		// Nothing beyond what keys, bounds and receives allow: the region's last bytes.
		if !bytes.Equal(mr.Bytes()[2400:], make([]byte, labBytes-2400)) {
			t.Error("written beyond the bounds")
		}
		if err := qp.Destroy(); err != nil {
			t.Error(err)
		}
		if err := mr.Deregister(); err != nil {
			t.Error(err)
		}
	})
}
