package perf

import (
	"testing"

	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
)

func TestPatternFindsEachByte(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 16, 31, 64} {
		p := make([]byte, size)
		b := pattern.Base(12345, false)
		pattern.Fill(p, b)
		if !pattern.Filled(p, b) {
			t.Fatalf("size %d: not what was written", size)
		}
		for i := range p {
			p[i] ^= 1
			if pattern.Filled(p, b) {
				t.Errorf("size %d: a changed byte %d goes unnoticed", size, i)
			}
			p[i] ^= 1
		}
		if size >= pattern.WordLen && (pattern.Filled(p, pattern.Base(12346, false)) || pattern.Filled(p, pattern.Base(12345, true))) {
			t.Errorf("size %d: another operation's payload passes", size)
		}
	}
	if !pattern.Filled(nil, 1) || !pattern.Blank(nil) {
		t.Error("nothing is always right")
	}
}

func TestBlank(t *testing.T) {
	for i := range 19 {
		p := make([]byte, 19)
		if !pattern.Blank(p) {
			t.Fatal("zeroes are blank")
		}
		if p[i] = 1; pattern.Blank(p) {
			t.Errorf("byte %d goes unnoticed", i)
		}
	}
}

func TestLedgerOfMessages(t *testing.T) {
	for _, c := range []struct {
		name string
		seqs []uint64
		want Tally
	}{
		{"all", []uint64{0, 1, 2, 3}, Tally{Arrived: 4}},
		{"one lost", []uint64{0, 1, 3}, Tally{Arrived: 3, Lost: 1}},
		{"one doubled", []uint64{0, 1, 1, 2, 3}, Tally{Arrived: 5, Doubled: 1}},
		{"first again at the end", []uint64{0, 1, 2, 3, 0}, Tally{Arrived: 5, Doubled: 1}},
		{"two exchanged", []uint64{0, 2, 1, 3}, Tally{Arrived: 4, Disorders: 1}},
		{"never given out", []uint64{0, 1, 2, 3, 4}, Tally{Arrived: 5, Corrupt: 1}},
		{"none", nil, Tally{Lost: 4}},
	} {
		l := ledger.New(4)
		for _, seq := range c.seqs {
			l.Note(seq)
		}
		if got := l.Final(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		free := ledger.New(4)
		free.Free = true
		for _, seq := range c.seqs {
			free.Note(seq)
		}
		c.want.Disorders = 0
		if got := free.Final(); got != c.want {
			t.Errorf("%s, without order: %+v, want %+v", c.name, got, c.want)
		}
		if l.Final().Broken() != (c.name != "all") {
			t.Errorf("%s: Broken is wrong", c.name)
		}
	}
}

func TestLedgerOfPuts(t *testing.T) {
	const slots = 4
	slot := make([]byte, 24)
	put := func(seq uint64) { pattern.Fill(slot, pattern.Base(seq, false)) }
	l := ledger.New(20)
	put(1)
	l.PutSlot(slot, 1, slots)
	if !pattern.Blank(slot) || l.Arrived != 1 || l.Tally.Broken() {
		t.Fatalf("a good put: %+v", l.Tally)
	}
	put(1) // the old one lands again instead of number 5
	l.PutSlot(slot, 5, slots)
	if l.Doubled != 1 || l.Corrupt != 0 {
		t.Errorf("an old put again: %+v", l.Tally)
	}
	l.PutSlot(slot, 9, slots) // nothing came
	put(13)
	slot[20] ^= 4
	l.PutSlot(slot, 13, slots)
	if l.Corrupt != 1 {
		t.Errorf("a spoiled put: %+v", l.Tally)
	}
	put(17)
	l.Rest(slot) // after the last check
	if l.Doubled != 2 {
		t.Errorf("a late put: %+v", l.Tally)
	}
	if got := l.Final().Lost; got != 20-2 { // only 1 and 13 came
		t.Errorf("lost %d", got)
	}
}
