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

// word is a state, or an event.
type word string

func (w word) String() string { return string(w) }

// TestSoloRequire: what is possible is let through, what isn't panics and is named.
func TestSoloRequire(t *testing.T) {
	Require(true, "life", word("ready"), word("laneUp"))
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "settled in state ready") {
			t.Errorf("%q", said)
		}
	}()
	Require(false, "life", word("ready"), word("settled"))
}
