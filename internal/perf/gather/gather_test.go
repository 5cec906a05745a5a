package gather_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/pattern"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text        string
		sizes       []int
		here, there bool
		err         string
	}{
		{"contig", []int{8}, false, false, ""},
		{"iov", []int{8, 16}, true, false, ""},
		{"iov,iov", []int{0, 16}, true, true, ""},
		{"contig,iov", []int{3}, false, true, ""},
		{"contig", []int{8, 16}, false, false, "with -D iov"},
		{"short", []int{8}, false, false, `"short"`},
		{"iov,", []int{8}, false, false, `""`},
		{"iov,iov,iov", []int{8}, false, false, "iov,iov"},
		{"iov", []int{8, -1}, true, false, "-s -1"},
		{"iov", make([]int, gather.MostPieces+1), true, false, "at most"},
	} {
		l, err := gather.Parse(c.text, c.sizes)
		switch {
		case c.err != "":
			if !errors.Is(err, gather.ErrLayout) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s %v: %v", c.text, len(c.sizes), err)
			}
		case err != nil || l.Here != c.here || l.There != c.there || l.Used() != (c.here || c.there):
			t.Errorf("%s: %+v, %v", c.text, l, err)
		}
	}
}

// TestBuffers: filled as one, looked at as one, and no piece reaches into another one.
func TestBuffers(t *testing.T) {
	b := gather.New([]int{3, 0, 700, 1})
	b.Fill(pattern.Base(7, false))
	if !pattern.Filled(b.Whole(), pattern.Base(7, false)) || len(b.Whole()) != 704 {
		t.Error("not what was filled in")
	}
	l := b.List()
	for i, p := range l {
		if cap(p) != len(p) {
			t.Errorf("piece %d can be appended to", i)
		}
	}
	l[2][699]++
	if pattern.Filled(b.Whole(), pattern.Base(7, false)) {
		t.Error("what is spoiled in a piece isn't seen")
	}
	if b.Clear(); !pattern.Blank(b.Whole()) {
		t.Error("something is left")
	}
}
