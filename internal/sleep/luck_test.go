package sleep

import "testing"

// wait is a wait of idle turns, and says how often others were let run. post has another post before each of the later turns.
func wait(l *Luck, turns int, post, asleep bool) (lets int) {
	c := l.company()
	for i := range turns {
		posts := uint32(7)
		if post {
			posts += uint32(i)
		}
		if c.turned(0, posts, asleep); c.lets() {
			lets++
		}
	}
	return lets
}

// Who was alone in his last waits lets others run each aloneTurns idle turns only, and each turn as soon as he sees that somebody is there.
func TestCompany(t *testing.T) {
	const turns = 2 * aloneTurns
	var l Luck
	for i := range 3 * tryEach {
		want := turns
		if i >= unlucky {
			want = turns / aloneTurns
		}
		if got := wait(&l, turns, false, false); got != want {
			t.Fatalf("wait %d alone: others were let run %d times of %d, want %d", i, got, turns, want)
		}
	}
	for _, how := range []struct{ post, asleep bool }{{post: true}, {asleep: true}} {
		if got := wait(&l, turns, how.post, how.asleep); got < turns-1 {
			t.Errorf("others are there (%+v): let run %d times of %d", how, got, turns)
		}
		for i := range unlucky - 1 {
			if got := wait(&l, turns, false, false); got != turns {
				t.Errorf("wait %d after others were there (%+v): let run %d times, want %d", i, how, got, turns)
			}
		}
		for range 2 * unlucky {
			wait(&l, turns, false, false)
		}
	}
}

// What who polls posts himself, in the handlers of a turn, is nobody's company.
func TestOwnPostsAreNoCompany(t *testing.T) {
	var l Luck
	for range unlucky {
		wait(&l, 1, false, false)
	}
	c := l.company()
	for i := range 100 {
		c.turned(1, uint32(i), false)
	}
	if c.turned(0, 100, false); c.here {
		t.Error("his own posts were taken for somebody else's")
	}
	if c.turned(0, 100, false); c.here {
		t.Error("nobody posted between two idle turns, and somebody was seen")
	}
	if c.turned(0, 101, false); !c.here {
		t.Error("somebody posted between two idle turns, and was not seen")
	}
}
