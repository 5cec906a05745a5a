package soft_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// asks has side b post a work request; side a does not turn.
func (l *lab) asks(t *testing.T, op rdma.Op, n int) {
	t.Helper()
	a, b := l.l.mr[0], l.l.mr[1]
	wr := rdma.SendWR{Op: op, Flags: rdma.FlagSignaled, RKey: a.RKey(), Addr: a.Addr(), SGL: []rdma.SGE{{Addr: b.Addr(), Length: uint32(n), LKey: b.LKey()}}}
	if _, st := l.l.qp[1].PostSend([]rdma.SendWR{wr}); st != rdma.Posted {
		t.Fatal(st)
	}
}

// answers gives side b answers of its peer.
func (l *lab) answers(list ...packet.Packet) {
	for _, p := range list {
		p.DestQP = l.l.qp[1].Num()
		l.inject(l.peer, &p)
	}
}

// TestAnswersThatCantBe: an answer of another kind or length than what was asked for ends the work request with StatusBadResp; one that is out of its time, or that
// nobody knows, changes nothing.
func TestAnswersThatCantBe(t *testing.T) {
	full := bytes.Repeat([]byte{0xee}, 4096)
	read := func(op packet.Opcode, psn uint32, n int) packet.Packet {
		return packet.Packet{Opcode: op, PSN: psn, Payload: full[:n]}
	}
	ack := func(psn uint32, s packet.Syndrome) packet.Packet {
		return packet.Packet{Opcode: packet.Acknowledge, PSN: psn, Syndrome: s}
	}
	refused := read(packet.ReadFirst, 0, 4096)
	refused.Syndrome = packet.NakAccess
	const going = rdma.WCStatus(99)
	for _, c := range []struct {
		name    string
		op      rdma.Op
		bytes   int
		answers []packet.Packet
		want    rdma.WCStatus
	}{
		{"shorter than asked for", rdma.OpRead, 200, []packet.Packet{read(packet.ReadOnly, 0, 100)}, rdma.StatusBadResp},
		{"longer than asked for", rdma.OpRead, 100, []packet.Packet{read(packet.ReadOnly, 0, 200)}, rdma.StatusBadResp},
		{"a first packet that is not full", rdma.OpRead, 5000, []packet.Packet{read(packet.ReadFirst, 0, 904)}, rdma.StatusBadResp},
		{"a result of an atomic for a READ", rdma.OpRead, 8, []packet.Packet{{Opcode: packet.AtomicAck}}, rdma.StatusBadResp},
		{"data for an atomic", rdma.OpFetchAdd, 8, []packet.Packet{read(packet.ReadOnly, 0, 8)}, rdma.StatusBadResp},
		{"data for a WRITE", rdma.OpWrite, 8, []packet.Packet{read(packet.ReadOnly, 0, 8)}, rdma.StatusBadResp},
		{"data that is a refusal", rdma.OpRead, 5000, []packet.Packet{refused}, rdma.StatusBadResp},
		{"the second packet alone", rdma.OpRead, 5000, []packet.Packet{read(packet.ReadLast, 1, 904)}, going},
		{"an acknowledgement for data", rdma.OpRead, 5000, []packet.Packet{ack(1, packet.Ack(-1))}, going},
		{"both packets", rdma.OpRead, 5000, []packet.Packet{read(packet.ReadFirst, 0, 4096), read(packet.ReadLast, 1, 904)}, rdma.StatusSuccess},
		{"a refusal of what was acknowledged", rdma.OpWrite, 5000, []packet.Packet{ack(0, packet.Ack(-1)), ack(0, packet.NakAccess)}, going},
		{"a refusal of what was not sent", rdma.OpWrite, 5000, []packet.Packet{ack(2, packet.NakAccess)}, going},
		{"a refusal that is none of the standard's", rdma.OpWrite, 5000, []packet.Packet{ack(0, 0x64)}, going},
		{"a syndrome that is none of the standard's", rdma.OpWrite, 5000, []packet.Packet{ack(0, 0x40), ack(1, 0x80)}, going},
		{"a refusal", rdma.OpWrite, 5000, []packet.Packet{ack(1, packet.NakAccess)}, rdma.StatusRemAccess},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.asks(t, c.op, c.bytes)
			l.answers(c.answers...)
			got := going
			if l.l.cq[1].Poll(l.l.wc[:1]) == 1 {
				got = l.l.wc[0].Status
			}
			state := rdma.RTS
			if c.want != going && c.want != rdma.StatusSuccess {
				state = rdma.Err
			}
			if got != c.want || l.l.qp[1].State() != state {
				t.Errorf("ended with %v in %v, want %v in %v", got, l.l.qp[1].State(), c.want, state)
			}
			if clean := !slices.Contains(l.l.mr[1].Bytes(), 0xee); clean != (c.want != rdma.StatusSuccess) {
				t.Errorf("memory is as before: %v", clean)
			}
		})
	}
}

// TestAsMuchAsAgreed: no more READs and atomics are under way than MaxReads.
func TestAsMuchAsAgreed(t *testing.T) {
	l := newLab(t)
	for _, s := range []struct {
		a rdma.QPAttr
		m rdma.AttrMask
	}{{rdma.QPAttr{State: rdma.SQD}, 0}, {rdma.QPAttr{State: rdma.SQD, MaxReads: 2}, rdma.MaskMaxReads}, {rdma.QPAttr{State: rdma.RTS}, 0}} {
		if err := l.l.qp[1].Modify(s.a, s.m); err != nil {
			t.Fatal(err)
		}
	}
	asked := 0
	l.w.net.Watch(func(_ time.Duration, f packet.Flow, b []byte) {
		if f.Dst == l.peer && packet.Opcode(b[0]) == packet.FetchAdd {
			asked++
		}
	})
	for range 5 {
		l.asks(t, rdma.OpFetchAdd, 8)
	}
	for psn := range uint32(5) {
		if want := min(5, int(psn)+2); asked != want {
			t.Errorf("%d were asked for when %d were answered, want %d", asked, psn, want)
		}
		l.answers(packet.Packet{Opcode: packet.AtomicAck, PSN: psn})
	}
	if n := l.l.cq[1].Poll(l.l.wc[:]); n != 5 {
		t.Errorf("%d completed", n)
	}
}

// TestDrainedWhenDone: EventSQDrained comes with the answer to what was begun, not before.
func TestDrainedWhenDone(t *testing.T) {
	l := newLab(t)
	l.asks(t, rdma.OpWrite, 8)
	events(l.l.dev[1])
	if err := l.l.qp[1].Modify(rdma.QPAttr{State: rdma.SQD}, 0); err != nil {
		t.Fatal(err)
	}
	l.asks(t, rdma.OpWrite, 8) // waits for RTS
	l.l.dev[1].Progress()
	if got := events(l.l.dev[1]); len(got) != 0 || !l.l.qp[1].Query().Draining {
		t.Errorf("before the answer: %v", got)
	}
	l.answers(packet.Packet{Opcode: packet.Acknowledge, Syndrome: packet.Ack(-1)})
	if got := events(l.l.dev[1]); len(got) != 1 || got[0] != rdma.EventSQDrained {
		t.Errorf("after it: %v", got)
	}
}

// TestResultsAreKept: who raises MaxDestReads keeps the results of atomics that may be asked for again.
func TestResultsAreKept(t *testing.T) {
	l := newLab(t)
	q, mr := l.l.qp[1], l.l.mr[1]
	var results []uint64
	l.w.net.Watch(func(_ time.Duration, f packet.Flow, b []byte) {
		if p := (packet.Packet{}); f.Dst == l.peer && p.Parse(b) == nil && p.Opcode == packet.AtomicAck {
			results = append(results, p.Orig)
		}
	})
	add := func(psn uint32) {
		l.inject(l.peer, &packet.Packet{Opcode: packet.FetchAdd, DestQP: q.Num(), PSN: psn, RKey: mr.RKey(), VA: mr.Addr(), Swap: 5})
	}
	for psn := range uint32(3) {
		add(psn)
	}
	for _, s := range []struct {
		a rdma.QPAttr
		m rdma.AttrMask
	}{{rdma.QPAttr{State: rdma.SQD}, 0}, {rdma.QPAttr{State: rdma.SQD, MaxDestReads: 40}, rdma.MaskMaxDestReads}, {rdma.QPAttr{State: rdma.RTS}, 0}} {
		if err := q.Modify(s.a, s.m); err != nil {
			t.Fatal(err)
		}
	}
	add(3)
	for psn := range uint32(4) {
		add(psn)
	}
	if want := []uint64{0, 5, 10, 15, 0, 5, 10, 15}; !slices.Equal(results, want) {
		t.Errorf("results %v, want %v", results, want)
	}
	if v := binary.NativeEndian.Uint64(mr.Bytes()); v != 20 {
		t.Errorf("%d after four times 5", v)
	}
}
