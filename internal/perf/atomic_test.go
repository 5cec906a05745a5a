package perf

import (
	"context"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/note"
)

var atomics = []string{"add", "ucp_fadd", "swap", "cswap"}

// Words of both sizes, one and many under way, in both modes of workers, over two lanes.
func TestAtomicsRun(t *testing.T) {
	for _, shared := range []bool{false, true} {
		addr, _ := listeningAs(t, shared)
		for _, test := range atomics {
			for _, size := range []int{4, 8} {
				for _, outstanding := range []int{0, 1, 50} {
					p := Params{Test: test, Size: size, Iterations: 200, Warmup: 7, Outstanding: outstanding, Verify: outstanding != 1}
					p.Shared, p.Lanes = shared, 2
					ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
					r, err := Run(ctx, addr, p, nil)
					cancel()
					if err != nil || r.Broken() || r.Iterations != 200 || r.Verified != p.Verify || !(r.Rate > 0) {
						t.Errorf("%+v: %v, %+v", p, err, r)
					}
				}
			}
		}
	}
}

// What is counted is what the words say: here somebody else changes them.
func TestAtomicsAreCounted(t *testing.T) {
	for _, test := range atomics {
		addr, _ := listening(t)
		c := dialed(t, addr, Params{Test: test, Size: 8, Outstanding: 3, Verify: true}, 40)
		m := newMeter(&c.p, nil)
		m.Begin()
		if err := c.operate(20, m); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ep.Word64(c.key, 0).FetchAdd(c.ctx, 1); err != nil { // as if one were done twice
			t.Fatal(err)
		}
		if err := c.operate(20, m); err != nil {
			t.Fatal(err)
		}
		got, err := c.end()
		if err != nil || !got.Broken() {
			t.Errorf("%s: %+v, %v", test, got, err)
		}
		if test == "add" && got != (Tally{Arrived: 41, Doubled: 1}) {
			t.Errorf("%s: %+v", test, got)
		}
		if err := c.ep.Put(c.ctx, make([]byte, 8), c.key, 0); err == nil {
			t.Errorf("%s: the key is for more than atomics", test)
		}
	}
	lost, err := newSession(openedNode(t), note.Note{Test: "add", Size: 4, Slots: 1, Total: 3, Verify: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	lost.mem.Word32(0).Add(1)
	if got := lost.final(); got != (Tally{Arrived: 1, Lost: 2}) {
		t.Errorf("%+v", got)
	}
}

func TestAtomicParams(t *testing.T) {
	for _, p := range []Params{{Test: "add", Size: 7}, {Test: "fadd"}, {Test: "cswap", Size: 8, Header: 1}} {
		if err := p.Validate(); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	p := Params{Test: "ucp_swap", Size: 8}
	if err := p.Validate(); err != nil || !p.IsLatency() {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := newSession(openedNode(t), note.Note{Test: "fadd", Size: 16, Slots: 1}, ""); err == nil {
		t.Error("a word of 16 bytes")
	}
}

func openedNode(t *testing.T) *braid.Node {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// What is lost or done twice shows in the sum, also one that is lost beside one that is done twice.
func TestAdded(t *testing.T) {
	for _, size := range []int{4, 8} {
		const total = 1000
		whole := uint64(0)
		for seq := range uint64(total) {
			whole += addend(seq, size)
		}
		for _, c := range []struct {
			off  uint64
			want Tally
		}{
			{0, Tally{Arrived: total}},
			{-addend(7, size), Tally{Arrived: total - 1, Lost: 1}},
			{addend(7, size), Tally{Arrived: total + 1, Doubled: 1}},
			{addend(7, size) + addend(8, size) + addend(8, size), Tally{Arrived: total + 3, Doubled: 3}},
			{addend(7, size) - addend(8, size), Tally{Arrived: total, Lost: 1, Doubled: 1}},
			{addend(7, size) - addend(8, size) - addend(9, size), Tally{Arrived: total - 1, Lost: 1}},
		} {
			is := whole + c.off
			if size == 4 {
				is = uint64(uint32(is))
			}
			if got := added(is, total, size); got != c.want {
				t.Errorf("%d bytes, %d off: %+v, want %+v", size, c.off, got, c.want)
			}
		}
	}
}
