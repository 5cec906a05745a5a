package order

import (
	"testing"

	"pgregory.net/rapid"
)

// lined is what a Line has to hold: lanes have numbers, 0 is none.
type lined struct {
	Line[int]
	on   []int // the lane of each that is under way
	wish int   // where it is to move
	up   map[int]bool
}

// where is how the engine chooses where something goes; 0: nowhere now.
func (l *lined) where(soonest int) int {
	if l.At() != 0 && !l.Moving() && l.up[l.At()] {
		return l.At()
	}
	if !l.Settle() {
		return 0
	}
	if !l.up[l.At()] {
		l.Join(soonest)
	}
	return l.At()
}

func (l *lined) enter(t *rapid.T, at int) {
	for _, o := range l.on {
		if o != at {
			t.Fatalf("something goes on lane %d, and something is under way on %d", at, o)
		}
	}
	if l.At() != at {
		t.Fatalf("it is on %d, and goes on %d", l.At(), at)
	}
	l.Enter()
	l.on = append(l.on, at)
}

func (l *lined) post(t *rapid.T, soonest int) {
	if !l.up[soonest] {
		return
	}
	at := l.where(soonest)
	switch {
	case at == 0 && len(l.on) == 0:
		t.Fatal("a lane is up, nothing is under way, and nothing may go")
	case at == 0:
		return
	case l.wish != 0 && l.up[l.wish] && at != l.wish:
		t.Fatalf("it goes on %d, and was to move to %d", at, l.wish)
	}
	l.enter(t, at)
	l.wish = 0
}

func (l *lined) follow(t *rapid.T, n int) {
	may := len(l.on) == 0 || l.on[0] == n
	if l.Join(n) != may {
		t.Fatalf("%d may follow on %d: %v", n, l.At(), !may)
	}
	if !may {
		return
	}
	if l.enter(t, n); n == l.wish {
		l.wish = 0
	}
}

func (l *lined) leave(t *rapid.T) {
	if len(l.on) == 0 {
		return
	}
	l.on = l.on[1:]
	if goes := l.Leave(); goes != (len(l.on) == 0 && l.wish != 0) {
		t.Fatalf("who waits may go: %v, with %d under way", goes, len(l.on))
	}
}

func (l *lined) move(t *rapid.T, n int) {
	other := l.Move(n)
	if l.wish = 0; other {
		l.wish = n
	}
	if other == (n == l.At()) {
		t.Fatalf("from %d to %d: another one: %v", l.At(), n, other)
	}
}

// What has an order is on one lane at a time, whatever lanes do; a move is made as soon as nothing is under way, and not undone by what follows on
// the lane before.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &lined{up: map[int]bool{}}
		any := func(t *rapid.T) int { return rapid.IntRange(1, 3).Draw(t, "lane") }
		t.Repeat(map[string]func(*rapid.T){
			"up or down": func(t *rapid.T) { n := any(t); l.up[n] = !l.up[n] },
			"post":       func(t *rapid.T) { l.post(t, any(t)) },
			"follow":     func(t *rapid.T) { l.follow(t, any(t)) },
			"leave":      l.leave,
			"move":       func(t *rapid.T) { l.move(t, any(t)) },
			"": func(t *rapid.T) {
				if l.Under() != len(l.on) || l.Moving() != (l.wish != 0) {
					t.Fatalf("%d are under way, and %d are thought to be; it moves: %v, and is to move to %d", len(l.on), l.Under(), l.Moving(), l.wish)
				}
			},
		})
	})
}
