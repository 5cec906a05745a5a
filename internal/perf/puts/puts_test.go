package puts

import (
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
)

func memory(t *testing.T, n int) *braid.Memory {
	t.Helper()
	node, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	mem, err := node.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// TestSpot: whatever the size, the word that is polled is aligned and inside, and stands at the end of the payload, or behind it.
func TestSpot(t *testing.T) {
	for size := range 40 {
		s := SpotOf(size, false)
		if s.Counter%8 != 0 || int(s.Offset)+size != s.Room || int(s.Counter)+pattern.WordLen != s.Room {
			t.Errorf("size %d: %+v", size, s)
		}
		if s = SpotOf(size, true); s.Counter%8 != 0 || s.Offset != 0 || int(s.Counter) < size || int(s.Counter)+pattern.WordLen != s.Room {
			t.Errorf("size %d, signals: %+v", size, s)
		}
		for _, signals := range []bool{false, true} {
			l := Layout{Size: size, Slots: 3, Signals: signals}
			if end := int(l.Offset(2)) + size; end > l.Room() || signals && (l.Word(1)%8 != 0 || l.Word(1) < l.Offset(1)+uint64(size) || l.Word(1)+8 > l.Offset(2) || int(l.Word(2))+8 > l.Room()) {
				t.Errorf("%+v: %d bytes, slots at %d, %d, words at %d, %d", l, l.Room(), l.Offset(1), l.Offset(2), l.Word(1), l.Word(2))
			}
		}
	}
}

// TestBoard: what a signal may not do is seen: come before its put, twice, never, or when all is over.
func TestBoard(t *testing.T) {
	const seq = 5
	put := func(b *Board) { pattern.Fill(b.Slot(0), pattern.Base(seq, false)) }
	signal := func(b *Board) { b.Mem.Word64(b.Word(0)).Add(seq + 1) }
	other := func(b *Board) { b.Mem.Word64(b.Word(0)).Add(seq + 2) }
	for name, c := range map[string]struct {
		before, after, late []func(*Board) // a look at it, and the check
		want                ledger.Tally
	}{
		"well":        {[]func(*Board){put, signal}, nil, nil, ledger.Tally{}},
		"before it":   {[]func(*Board){signal}, []func(*Board){put}, nil, ledger.Tally{Corrupt: 1}},
		"twice":       {[]func(*Board){put, signal}, []func(*Board){signal}, nil, ledger.Tally{Doubled: 1}},
		"never":       {[]func(*Board){put}, nil, nil, ledger.Tally{Lost: 1}},
		"another one": {[]func(*Board){put}, []func(*Board){other}, nil, ledger.Tally{Corrupt: 2}}, // not its put's, and not its own
		"when over":   {[]func(*Board){put, signal}, nil, []func(*Board){signal}, ledger.Tally{Doubled: 1}},
		"alone":       {[]func(*Board){signal}, nil, nil, ledger.Tally{Corrupt: 1, Lost: 1}},
	} {
		l := Layout{Size: 20, Slots: 1, Signals: true}
		b := &Board{Layout: l, Mem: memory(t, l.Room()), Ledger: ledger.New(seq + 1)}
		for n := range uint64(seq) {
			pattern.Fill(b.Slot(0), pattern.Base(n, false))
			b.Mem.Word64(b.Word(0)).Add(n + 1)
			b.Check(n, 1)
		}
		do := func(all []func(*Board)) {
			for _, fn := range all {
				fn(b)
			}
		}
		do(c.before)
		b.Look()
		do(c.after)
		b.Check(seq, 1)
		do(c.late)
		b.Rest()
		if c.want.Arrived = seq + 1; name == "alone" {
			c.want.Arrived--
		}
		if got := b.Ledger.Final(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestLane: a signal that comes twice is counted once, and what comes after it is not taken for it; bytes that are not there with it are corrupt.
func TestLane(t *testing.T) {
	s := SpotOf(20, true)
	l := &Lane{Spot: s, Mem: memory(t, s.Room), Ledger: ledger.New(4)}
	hop := func(seq uint64, signals uint64, whole bool) {
		t.Helper()
		if l.Came(seq) {
			t.Fatalf("%d is there before it comes", seq)
		}
		body := make([]byte, 20)
		if s.Fill(body, seq, true, false); whole {
			copy(l.Mem.Bytes(), body)
		}
		l.Mem.Word64(s.Counter).Add(signals)
		if !l.Came(seq) {
			t.Fatalf("%d is not seen", seq)
		}
		l.Look(seq, nil, false)
	}
	hop(0, 1, true)
	hop(1, 2, true)
	hop(2, 1, false)
	hop(3, 1, true)
	l.Mem.Word64(s.Counter).Add(1)
	if l.Rest(4); l.Ledger.Final() != (ledger.Tally{Arrived: 4, Doubled: 2, Corrupt: 1}) {
		t.Errorf("%+v", l.Ledger.Final())
	}
}
