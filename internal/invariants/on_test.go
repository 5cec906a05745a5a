//go:build invariants

package invariants

import (
	"strings"
	"testing"
)

func TestSolo(t *testing.T) {
	var s Solo
	for range 2 {
		s.Enter("")
		said := second(&s)
		for _, want := range []string{"TestSolo was called while another goroutine is in TestSolo: ", "one at a time"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q, want %q in it", said, want)
			}
		}
		s.Leave()
	}
	if n := testing.AllocsPerRun(100, func() { s.Enter(""); s.Leave() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func second(s *Solo) (said string) {
	defer func() { said = recover().(string) }()
	s.Enter("one at a time")
	return
}
