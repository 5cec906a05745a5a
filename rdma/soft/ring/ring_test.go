package ring_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/rdma/soft/ring"
)

// draw makes a work request with everything that its operation has.
func draw(t *rapid.T, datagram bool) ring.WQE {
	ops := []rdma.Op{rdma.OpWrite, rdma.OpWriteImm, rdma.OpSend, rdma.OpSendImm, rdma.OpRead, rdma.OpCompareSwap, rdma.OpFetchAdd,
		rdma.OpLocalInv, rdma.OpBindMW, rdma.OpSendInv}
	if datagram {
		ops = []rdma.Op{rdma.OpSend, rdma.OpSendImm}
	}
	u32, u64 := rapid.Uint32(), rapid.Uint64()
	w := ring.WQE{
		Op: rapid.SampledFrom(ops).Draw(t, "op"), Flags: rapid.Uint8().Draw(t, "flags"), ID: u64.Draw(t, "id"), Length: u32.Draw(t, "length"),
		Imm: u32.Draw(t, "imm"), RKey: u32.Draw(t, "rkey"), Num: u32.Draw(t, "num"),
	}
	switch {
	case datagram:
		w.QKey = u32.Draw(t, "qkey")
		w.Route = carrier.Route{To: netip.MustParseAddrPort("[fd00::1]:4791"), MAC: rdma.MAC{1, 2, 3, 4, 5, 6}, TrafficClass: 7, HopLimit: 8}
		if rapid.Bool().Draw(t, "IPv4") {
			w.Route.To = netip.MustParseAddrPort("10.0.0.1:5000")
		}
	case w.Op == rdma.OpBindMW:
		w.Addr, w.BindLength, w.Access = u64.Draw(t, "addr"), u64.Draw(t, "bind"), rdma.Access(rapid.Uint8().Draw(t, "access"))
	default:
		w.Addr = u64.Draw(t, "addr")
		if w.Op.Atomic() {
			w.Compare, w.Swap = u64.Draw(t, "compare"), u64.Draw(t, "swap")
		}
	}
	if rapid.Bool().Draw(t, "inline") && !w.Op.Answered() && !w.Op.Local() {
		w.InlineBytes = uint16(copy(w.Data[:], rapid.SliceOfN(rapid.Byte(), 0, ring.MaxInline).Draw(t, "data")))
	} else {
		w.NSGE = uint8(rapid.IntRange(0, ring.MaxSGE).Draw(t, "pieces"))
		for i := range w.NSGE {
			w.SGE[i] = rdma.SGE{Addr: u64.Draw(t, "a"), Length: u32.Draw(t, "l"), LKey: u32.Draw(t, "k")}
		}
	}
	w.Blocks = uint8(ring.Blocks(w.Op, datagram, int(w.NSGE), int(w.InlineBytes)))
	return w
}

// TestRing: what is put is got again, in order, over the end of the blocks and of the indices.
func TestRing(t *testing.T) {
	same := cmpopts.EquateComparable(netip.AddrPort{})
	rapid.Check(t, func(t *rapid.T) {
		datagram := rapid.Bool().Draw(t, "datagram")
		var r ring.Ring
		limit := rapid.IntRange(ring.MaxWRBlocks, 64).Draw(t, "limit")
		r.Open(limit, uint16(65536-rapid.IntRange(1, 200).Draw(t, "before the wrap")))
		var want []ring.WQE
		taken := 0
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			if w := draw(t, datagram); int(w.Blocks) <= r.Room() {
				if w.Blocks < 1 || w.Blocks > ring.MaxWRBlocks {
					t.Fatalf("%d blocks", w.Blocks)
				}
				r.Put(&w, datagram)
				want = append(want, w)
				taken += int(w.Blocks)
			}
			for len(want) > 0 && rapid.Bool().Draw(t, "get") {
				var got ring.WQE
				r.Get(r.Head, &got, datagram)
				if d := cmp.Diff(want[0], got, same); d != "" {
					t.Fatalf("-put +got:\n%s", d)
				}
				if r.OpAt(r.Head) != got.Op {
					t.Fatalf("%v at the head, got %v", r.OpAt(r.Head), got.Op)
				}
				r.Head = r.After(r.Head)
				r.Freed = r.Head
				taken -= int(got.Blocks)
				want = want[1:]
			}
			if r.Room() != limit-taken || r.Empty() != (len(want) == 0) {
				t.Fatalf("room %d, want %d; empty %v with %d", r.Room(), limit-taken, r.Empty(), len(want))
			}
		}
	})
}

func TestReceives(t *testing.T) {
	var r ring.Receives
	r.Open(3, 2)
	piece := []rdma.SGE{{Addr: 1}, {Addr: 2}, {Addr: 3}}
	if st := r.Push(&rdma.RecvWR{SGL: piece}); st != rdma.BadWR {
		t.Errorf("three pieces: %v", st)
	}
	next := uint64(0)
	for id := range uint64(20) {
		if st := r.Push(&rdma.RecvWR{ID: id, SGL: piece[:id%3]}); st != rdma.Posted {
			t.Fatal(st)
		}
		if r.Count == 3 {
			if st := r.Push(&rdma.RecvWR{}); st != rdma.Full {
				t.Errorf("a fourth: %v", st)
			}
		}
		if r.Count < 2 {
			continue
		}
		if got, sges := r.First(); got != next || len(sges) != int(next%3) {
			t.Errorf("first is %d with %d pieces, want %d", got, len(sges), next)
		}
		r.Pop()
		next++
	}
}

func TestAnswers(t *testing.T) {
	var a ring.Answers
	a.Grow(1)
	a.Acknowledge(1, 1)
	a.Acknowledge(5, 3) // one is enough
	a.Push(ring.Answer{Kind: ring.Read, PSN: 6, First: 6, Total: 1000, Left: 1000, Start: 7000, VA: 7000})
	a.Acknowledge(8, 4)
	a.Grow(8) // keeps what there is
	if a.Count != 3 || a.Data != 1 || a.At(0).PSN != 5 || a.At(0).MSN != 3 || a.At(2).PSN != 8 {
		t.Fatalf("%+v", a)
	}
	// The READ has sent three packets of 256; the second is asked for again.
	x := a.At(1)
	x.PSN, x.VA, x.Left, x.Begun = 9, 7768, 232, true
	if !a.Again(&packet.Packet{PSN: 7}, 256) || x.PSN != 7 || x.VA != 7256 || x.Left != 744 || x.Begun {
		t.Errorf("%+v", x)
	}
	for _, psn := range []uint32{5, 8, 10} { // before it, not sent yet, behind it
		if a.Again(&packet.Packet{PSN: psn}, 256) {
			t.Errorf("went to %d", psn)
		}
	}
	a.Pop()
	a.Pop()
	if a.Data != 0 || a.At(0).PSN != 8 {
		t.Errorf("%+v", a)
	}
	if a.Clear(); a.Count != 0 {
		t.Error("cleared")
	}
}

// TestResults: the last ones are found, the latest of a packet number first; what is older is gone; room that grows keeps all.
func TestResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type kept struct {
			psn  uint32
			orig uint64
		}
		var r ring.Results
		var model []kept // the latest last
		room := rapid.IntRange(0, 5).Draw(t, "room")
		r.Grow(room)
		room = max(1, room)
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				n := rapid.IntRange(0, 20).Draw(t, "grow")
				r.Grow(n)
				room = max(room, n)
			case 1, 2:
				k := kept{rapid.Uint32Range(0, 7).Draw(t, "psn"), uint64(i) + 1}
				r.Keep(k.psn, k.orig)
				if model = append(model, k); len(model) > room {
					model = model[len(model)-room:]
				}
			default:
				psn := rapid.Uint32Range(0, 7).Draw(t, "psn")
				var want kept
				for _, k := range model {
					if k.psn == psn {
						want = k
					}
				}
				if orig, ok := r.Find(psn); orig != want.orig || ok != (want.orig != 0) {
					t.Fatalf("of %d: %d, %v, want %d; kept are %v of %d", psn, orig, ok, want.orig, model, room)
				}
			}
		}
	})
}
