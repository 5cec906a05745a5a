package tally_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openbraid/braid/internal/demo/tally"
)

func TestPayloads(t *testing.T) {
	a := tally.Announcement{Window: 7, First: 90, Sums: []uint32{1, 2, 1 << 31}}
	if got, err := tally.ParseAnnouncement(a.Encode()); err != nil || !cmp.Equal(got, a) {
		t.Errorf("announcement %+v, %v", got, err)
	}
	e := tally.Ending{Totals: tally.Totals{Blocks: 1, Words: 2, Messages: 3, Bytes: 1 << 40}, Cuts: []time.Duration{5, 6}}
	if got, err := tally.ParseEnding(e.Encode()); err != nil || !cmp.Equal(got, e) {
		t.Errorf("ending %+v, %v", got, err)
	}
	if w := tally.ParseRelease(tally.Release(9)); w != 9 {
		t.Errorf("release %d", w)
	}
}

func FuzzPayloads(f *testing.F) {
	f.Add(tally.Announcement{Window: 7, First: 90, Sums: []uint32{1, 2}}.Encode())
	f.Add(tally.Ending{Cuts: []time.Duration{5}}.Encode())
	f.Add(tally.MessageHeader(1, tally.KindNote, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := tally.ParseAnnouncement(b); err == nil {
			if n := len(a.Sums); n == 0 || n > tally.WindowBlocks {
				t.Errorf("a window of %d blocks", n)
			}
			if string(a.Encode()) != string(b) {
				t.Errorf("announcement %x is made %x", b, a.Encode())
			}
		}
		if e, err := tally.ParseEnding(b); err == nil && string(e.Encode()) != string(b) {
			t.Errorf("ending %x is made %x", b, e.Encode())
		}
		tally.ParseRelease(b)
		tally.NewOrder().Message(b, b)
	})
}

func TestGaps(t *testing.T) {
	var g tally.Gaps
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, at := range []int{100, 101, 131, 130, 132, 200} { // 130 came from another goroutine, late
		g.Completed(ms(at))
	}
	for _, c := range []struct{ from, to, want int }{
		{100, 132, 30},
		{110, 132, 21},
		{110, 120, 10},
		{100, 1000, 68},
		{150, 1000, 50}, // after the last completion nothing is due
		{300, 1000, 0},
		{0, 100, 0},
	} {
		if got := g.Longest(ms(c.from), ms(c.to)); got != ms(c.want) {
			t.Errorf("between %d and %d: %v, want %d ms", c.from, c.to, got, c.want)
		}
	}
}
