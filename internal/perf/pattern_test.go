package perf

import "testing"

func TestPatternFindsEachByte(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 16, 31, 64} {
		p := make([]byte, size)
		b := base(12345, false)
		fill(p, b)
		if !filled(p, b) {
			t.Fatalf("size %d: not what was written", size)
		}
		for i := range p {
			p[i] ^= 1
			if filled(p, b) {
				t.Errorf("size %d: a changed byte %d goes unnoticed", size, i)
			}
			p[i] ^= 1
		}
		if size >= wordLen && (filled(p, base(12346, false)) || filled(p, base(12345, true))) {
			t.Errorf("size %d: another operation's payload passes", size)
		}
	}
	if !filled(nil, 1) || !blank(nil) {
		t.Error("nothing is always right")
	}
}

func TestBlank(t *testing.T) {
	for i := range 19 {
		p := make([]byte, 19)
		if !blank(p) {
			t.Fatal("zeroes are blank")
		}
		if p[i] = 1; blank(p) {
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
		l := newLedger(4)
		for _, seq := range c.seqs {
			l.note(seq)
		}
		if got := l.final(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		free := newLedger(4)
		free.free = true
		for _, seq := range c.seqs {
			free.note(seq)
		}
		c.want.Disorders = 0
		if got := free.final(); got != c.want {
			t.Errorf("%s, without order: %+v, want %+v", c.name, got, c.want)
		}
		if l.final().Broken() != (c.name != "all") {
			t.Errorf("%s: Broken is wrong", c.name)
		}
	}
}

func TestLedgerOfPuts(t *testing.T) {
	const slots = 4
	slot := make([]byte, 24)
	put := func(seq uint64) { fill(slot, base(seq, false)) }
	l := newLedger(20)
	put(1)
	l.putSlot(slot, 1, slots)
	if !blank(slot) || l.Arrived != 1 || l.Tally.Broken() {
		t.Fatalf("a good put: %+v", l.Tally)
	}
	put(1) // the old one lands again instead of number 5
	l.putSlot(slot, 5, slots)
	if l.Doubled != 1 || l.Corrupt != 0 {
		t.Errorf("an old put again: %+v", l.Tally)
	}
	l.putSlot(slot, 9, slots) // nothing came
	put(13)
	slot[20] ^= 4
	l.putSlot(slot, 13, slots)
	if l.Corrupt != 1 {
		t.Errorf("a spoiled put: %+v", l.Tally)
	}
	put(17)
	l.rest(slot) // after the last check
	if l.Doubled != 2 {
		t.Errorf("a late put: %+v", l.Tally)
	}
	if got := l.final().Lost; got != 20-2 { // only 1 and 13 came
		t.Errorf("lost %d", got)
	}
}

func TestSpot(t *testing.T) {
	for size := range 40 {
		s := spotOf(size)
		if s.counter%8 != 0 || int(s.offset)+size != s.room || int(s.counter)+wordLen != s.room {
			t.Errorf("size %d: %+v", size, s)
		}
	}
}
