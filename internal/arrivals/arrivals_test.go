package arrivals

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/request"
)

type conn struct{ said bool }

func (c *conn) Greeted() bool { return c.said }

// model is a room as it should be.
type model struct {
	*rapid.T
	room             Room[*conn]
	here             []guest[*conn]
	dropped, crowded uint64
}

func (m *model) take(who *conn) (g guest[*conn]) {
	for i := range m.here {
		if m.here[i].who == who {
			g = m.here[i]
			m.here = append(m.here[:i], m.here[i+1:]...)
			return g
		}
	}
	m.Fatal("it was not here")
	return g
}

func (m *model) some() *conn { return m.here[rapid.IntRange(0, len(m.here)-1).Draw(m.T, "who")].who }

func (m *model) enter() {
	host := rapid.SampledFrom([]string{"a", "b", "near"}).Draw(m.T, "host")
	same, settled, own := 0, 0, 0 // of the host; listened to; both
	for _, o := range m.here {
		old := o.came+1 < m.room.turn
		if old {
			settled++
		}
		if o.host == host && host != "near" {
			if same++; old {
				own++
			}
		}
	}
	must := same >= m.room.PerHost && own > 0 || len(m.here) >= m.room.Places && settled > 0
	who := &conn{}
	out, ok := m.room.Enter(who, host, host == "near")
	if must != (out != nil) {
		m.Fatalf("somebody has to make room: %v; somebody does: %v", must, out != nil)
	}
	if !ok {
		if m.dropped++; len(m.here) < 2*m.room.Places || out != nil {
			m.Fatalf("refused with %d here", len(m.here))
		}
		return
	}
	m.here = append(m.here, guest[*conn]{who, host, m.room.turn})
	if out == nil {
		return
	}
	m.crowded++
	g := m.take(out)
	if g.came+1 >= m.room.turn {
		m.Fatal("nobody has listened to who had to go")
	}
	for _, o := range m.here {
		if o.came+1 < m.room.turn && (same < m.room.PerHost || own == 0 || o.host == host) && (g.who.said && !o.who.said || g.who.said == o.who.said && o.came < g.came) {
			m.Fatal("another one should have gone")
		}
	}
	if !m.room.Leave(out) { // as the engine does
		m.Fatal("who has to go is not here")
	}
	m.room.Dropped()
	m.dropped++
}

// TestRoom: whatever comes, in whatever order: never more than twice the places; whoever has to go came earlier than the turn before, and nobody
// else that came so early had said less, or the same and came first; whoever enters is there until he leaves.
func TestRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{T: t, room: Room[*conn]{Places: rapid.IntRange(1, 6).Draw(t, "places"), PerHost: rapid.IntRange(1, 4).Draw(t, "per host")}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch what := rapid.SampledFrom([]string{"enter", "enter", "turn", "greet", "leave"}).Draw(t, "what"); {
			case what == "turn":
				m.room.Turn()
			case what == "enter":
				m.enter()
			case len(m.here) == 0:
			case what == "greet":
				m.some().said = true
			case what == "leave":
				who := m.some()
				if !m.room.Leave(who) || m.room.Leave(who) {
					t.Fatal("leaves once")
				}
				m.take(who)
			}
			if c := m.room.Counts(); c.HalfOpen != len(m.here) || c.HalfOpen > 2*m.room.Places || c.Dropped != m.dropped || c.Crowded != m.crowded {
				t.Fatalf("%+v; %d here, %d dropped, %d crowded", c, len(m.here), m.dropped, m.crowded)
			}
		}
		if all := m.room.Empty(); len(all) != len(m.here) || m.room.Counts().HalfOpen != 0 {
			t.Fatal("not all have left")
		}
	})
}

func TestFarewells(t *testing.T) {
	r := Room[*conn]{Places: 2}
	for i, want := range []bool{true, true, false} {
		if stay := r.Refused(); stay != want {
			t.Errorf("%d: %v", i, stay)
		}
	}
	r.Parted()
	if !r.Refused() || r.Counts().Refused != 4 {
		t.Errorf("%+v", r.Counts())
	}
	told := 0
	for now := time.Duration(0); now < 3*time.Second; now += 100 * time.Millisecond {
		if r.Tell(now) {
			told++
		}
	}
	if told != 3 {
		t.Errorf("told %d times in 3 s", told)
	}
}

func TestBacklog(t *testing.T) {
	var b Backlog[int]
	nonce := func(n int) [16]byte { return [16]byte{byte(n), byte(n >> 8)} }
	b.Begin(1, nonce(1))
	if err := b.Refuses(nonce(1)); !errors.Is(err, ErrTwice) {
		t.Error(err)
	}
	if err := b.Refuses(nonce(2)); err != nil {
		t.Error(err)
	}
	if _, ok := b.Next(); ok {
		t.Error("accepted before it had a lane")
	}
	if b.Arrived(1) != nil || b.Refuses(nonce(1)) != nil {
		t.Error("nobody waits, and its Hello does not wait any more")
	}
	b.Begin(2, nonce(2))
	b.Arrived(2)
	if !b.Gone(1) || b.Gone(1) {
		t.Error("gone once")
	}
	if ep, ok := b.Next(); !ok || ep != 2 {
		t.Error(ep, ok)
	}
	var first, second, third request.Request
	b.Wait(&first)
	b.Wait(&second)
	b.Wait(&third)
	if !b.Cancel(&second) || b.Cancel(&second) {
		t.Error("cancelled once")
	}
	b.Begin(3, nonce(3))
	if b.Gone(3) {
		t.Error("it did not wait to be accepted")
	}
	if b.Arrived(4) != &first {
		t.Error("who has waited longest gets it")
	}
	b.Begin(5, nonce(5))
	left, accepts := b.Close()
	if len(left) != 1 || left[0] != 5 || len(accepts) != 1 || accepts[0] != &third {
		t.Error(left, accepts)
	}
	if err := b.Refuses(nonce(6)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	b = Backlog[int]{Unasked: true}
	for n := range 2 * MaxBacklog { // nobody accepts them, so they don't wait
		b.Begin(n, nonce(n))
		if b.Arrived(n) != nil || b.Refuses(nonce(n+1)) != nil {
			t.Fatal("it is refused", n)
		}
	}
	if !b.Gone(5) {
		t.Error("nobody was given it")
	}
	if left, _ := b.Close(); len(left) != 0 {
		t.Error(left)
	}
	b = Backlog[int]{}
	for n := range MaxBacklog {
		b.Begin(n, nonce(n))
	}
	if err := b.Refuses(nonce(5000)); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}
