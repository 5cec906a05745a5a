package perf

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// spoiled is a server whose memory is not what it should be.
func spoiled(t *testing.T, spoil func(*session)) (addr string) {
	t.Helper()
	n, err := braid.Open(braid.Options{Times: braid.Times{Keepalive: time.Hour, Peer: 2 * time.Hour}}) // wakes nobody by itself
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w := newWorker(t, n)
	w.HandleAM(note.ID, func(m *braid.Message) {
		got, err := note.Parse(m.Payload())
		answer := note.Note{Kind: note.Report}
		if err == nil && got.Kind == note.Start {
			var ses *session
			if ses, err = newSession(n, got, ""); err == nil {
				spoil(ses)
				answer = note.Note{Kind: note.Ready, Key: ses.mem.Key(ses.rights()).Bytes()}
			}
		}
		if err != nil {
			answer = note.Note{Kind: note.Refused, Text: err.Error()}
		}
		m.Endpoint().PostAM(note.ID, nil, answer.Bytes()).Release()
	})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln.Addr()
}

// What the client counts is what arrives: here from a memory that is spoiled, unwritten or out of place.
func TestClientCountsGets(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*session)
		want  Tally
	}{
		{"good", func(*session) {}, Tally{}},
		{"one bit", func(s *session) { s.board.Slot(7)[99] ^= 1 }, Tally{Corrupt: 1}},
		{"nothing there", func(s *session) { clear(s.board.Slot(0)) }, Tally{Lost: 1}},
		{"what came before once more", func(s *session) { copy(s.board.Slot(9), s.board.Slot(3)) }, Tally{Doubled: 1, Lost: 1}},
		{"what is to come", func(s *session) { copy(s.board.Slot(3), s.board.Slot(9)) }, Tally{Corrupt: 1}},
		{"neighbors torn", func(s *session) { copy(s.board.Slot(5)[50:], s.board.Slot(6)[50:]) }, Tally{Corrupt: 1}},
	} {
		for _, outstanding := range []int{1, 4, 100} {
			p := Params{Test: "ucp_get", Size: 100, Iterations: 20, Warmup: 5, Outstanding: outstanding, Verify: true}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			r, err := Run(ctx, spoiled(t, c.spoil), p, nil)
			cancel()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			got := Tally{Lost: r.Lost, Doubled: r.Doubled, Corrupt: r.Corrupt, Disorders: r.Disorders}
			if got != c.want || r.Broken() != c.want.Broken() || r.Iterations != 20 || !r.Verified {
				t.Errorf("%s, window %d: %+v, want %+v", c.name, outstanding, r, c.want)
			}
		}
	}
}

// Places are read again and again; a spoiled one counts each time.
func TestGetsGoAround(t *testing.T) {
	size := slotBytes // two places for one under way
	addr := spoiled(t, func(s *session) {
		if s.board.Slots != 2 {
			t.Errorf("%d places", s.board.Slots)
		}
		s.board.Slot(1)[size-1] ^= 1
	})
	r, err := Run(context.Background(), addr, Params{Test: "get", Size: size, Iterations: 6, Verify: true}, nil)
	if err != nil || r.Corrupt != 3 || r.Lost != 0 || r.Doubled != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLedgerOfGets(t *testing.T) {
	const slots = 4
	got := make([]byte, 24)
	bring := func(slot uint64) { pattern.Fill(got, pattern.Base(slot, true)) }
	l := ledger.New(20)
	for seq := range uint64(6) {
		bring(seq % slots)
		l.Answer(got, seq, slots)
	}
	if l.Arrived != 6 || l.Broken() || !pattern.Blank(got) {
		t.Fatalf("good gets: %+v", l.Tally)
	}
	bring(1) // number 5 once more instead of 6
	l.Answer(got, 6, slots)
	if l.Doubled != 1 || l.Corrupt != 0 {
		t.Errorf("an earlier answer again: %+v", l.Tally)
	}
	l.Answer(got, 7, slots) // nothing came
	bring(0)
	got[23] ^= 0x80
	l.Answer(got, 8, slots)
	if l.Corrupt != 1 {
		t.Errorf("a spoiled answer: %+v", l.Tally)
	}
	if lost := l.Final().Lost; lost != 20-7 { // 0 to 5, and 8
		t.Errorf("lost %d", lost)
	}
}

// Bytes that come when a get is done already, before the buffer is used again and after the end.
func TestLateAnswers(t *testing.T) {
	addr, _ := listening(t)
	c := dialed(t, addr, Params{Test: "get", Size: 64, Outstanding: 2, Verify: true}, 4)
	m := newMeter(&c.p, nil)
	m.Begin()
	if err := c.operate(2, m); err != nil {
		t.Fatal(err)
	}
	c.win.slots[1].body[63] = 1
	if err := c.operate(2, m); err != nil {
		t.Fatal(err)
	}
	if c.ledger.Doubled != 1 || c.ledger.Corrupt != 0 {
		t.Errorf("before the next get: %+v", c.ledger.Tally)
	}
	c.win.slots[0].body[0] = 1
	got, err := c.end()
	if want := (Tally{Arrived: 4, Doubled: 2}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// The key of a get's memory is for reading, and what does not belong to the test does no harm.
func TestGetServerIsRobust(t *testing.T) {
	addr, _ := listening(t)
	c := dialed(t, addr, Params{Test: "get", Size: 64, Verify: true}, 1)
	if err := c.ep.Put(c.ctx, make([]byte, 8), c.key, 0); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("a put: %v", err)
	}
	if err := c.ep.SendAM(c.ctx, note.Data, make([]byte, pattern.WordLen), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ask(note.Note{Kind: note.Check, Count: 1}, note.Checked); err != nil {
		t.Fatal(err)
	}
	m := newMeter(&c.p, nil)
	m.Begin()
	if err := c.operate(1, m); err != nil {
		t.Fatal(err)
	}
	if got, err := c.end(); err != nil || got.Broken() {
		t.Errorf("%+v, %v", got, err)
	}
}

// One more place than operations under way, whatever the size.
func TestGetSlots(t *testing.T) {
	for _, c := range []struct{ size, window, want int }{{1, 1, maxSlots}, {8, 32, maxSlots}, {8, maxOutstanding, maxSlots}, {1 << 20, 1, 4}, {1 << 20, 32, 33}, {maxSize, 1, 2}} {
		p := Params{Test: "get", Size: c.size, Outstanding: c.window, Verify: true}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		if got := getSlots(&p); got != c.want || got*c.size > maxRoom {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
