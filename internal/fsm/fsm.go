package fsm

import (
	"fmt"
	"strings"
)

// Name is what states and events are: small numbers that print themselves.
type Name interface {
	~uint8
	fmt.Stringer
}

// Row is one arrow of the picture.
type Row[S, E Name] struct {
	From S
	On   E
	To   S
}

// Table is a whole life.
type Table[S, E Name] struct {
	next   [][]int16 // by state, event; -1: impossible
	states []S
	events []E
}

// New makes a table for the states 0..lastState and the events 0..lastEvent.
func New[S, E Name](lastState S, lastEvent E, rows ...Row[S, E]) *Table[S, E] {
	t := &Table[S, E]{}
	for s := S(0); s <= lastState; s++ {
		t.states = append(t.states, s)
		line := make([]int16, int(lastEvent)+1)
		for i := range line {
			line[i] = -1
		}
		t.next = append(t.next, line)
	}
	for e := E(0); e <= lastEvent; e++ {
		t.events = append(t.events, e)
	}
	for _, r := range rows {
		if t.next[r.From][r.On] >= 0 {
			panic(fmt.Sprintf("fsm: two rows for %v on %v", r.From, r.On))
		}
		t.next[r.From][r.On] = int16(r.To)
	}
	return t
}

// Note applies an event to *s and says whether the table knows it there.
func (t *Table[S, E]) Note(s *S, e E) bool {
	to := t.next[*s][e]
	if to < 0 {
		return false
	}
	*s = S(to)
	return true
}

// Matrix prints every state with every event, for a golden file.
func (t *Table[S, E]) Matrix() string {
	var b strings.Builder
	for _, s := range t.states {
		for _, e := range t.events {
			to := "-"
			if n := t.next[s][e]; n >= 0 {
				to = S(n).String()
			}
			fmt.Fprintf(&b, "%-10s %-14s %s\n", s, e, to)
		}
	}
	return b.String()
}
