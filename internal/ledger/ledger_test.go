package ledger_test

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
)

// log is a completer that writes down what it is told.
type log struct {
	sent     []uint64
	executed []uint64
	errs     []error
	inside   func(tag uint64)
}

func (g *log) Sent(tag uint64) { g.sent = append(g.sent, tag) }
func (g *log) Executed(tag uint64, err error) {
	g.executed = append(g.executed, tag)
	g.errs = append(g.errs, err)
	if g.inside != nil {
		g.inside(tag)
	}
}

// fill pushes frames [from, to) of 10 bytes each, the odd ones zero-copy.
func fill(l *ledger.Ledger, g *log, from, to uint64) {
	for tag := from; tag < to; tag++ {
		l.Push(&transport.Frame{ID: 1, Payload: make([]byte, 10), ZeroCopy: tag%2 == 1, Done: g, Tag: tag})
	}
}

func counts(l *ledger.Ledger) (c transport.Counts) { l.Counts(&c); return c }

func equal(a []uint64, b ...uint64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestAck(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 6)
	for _, n := range []uint64{7, 1 << 63, ^uint64(0)} {
		if err := l.Ack(n); !errors.Is(err, transport.ErrPosition) || l.Len() != 6 {
			t.Errorf("Ack(%d) of 6 = %v, Len %d: want ErrPosition and nothing changed", n, err, l.Len())
		}
	}
	if err := l.Ack(4); err != nil || !equal(g.executed, 0, 1, 2, 3) || !equal(g.sent, 1, 3) {
		t.Fatalf("Ack(4) = %v: sent %v, executed %v", err, g.sent, g.executed)
	}
	if l.At(0).Payload != nil || l.At(0).Done != nil {
		t.Error("an ended entry still refers to its payload")
	}
	if err := l.Ack(4); err != nil || counts(&l).RoundTrips != 1 {
		t.Errorf("the same again = %v, round trips %d, want 1", err, counts(&l).RoundTrips)
	}
	if err := l.Ack(3); !errors.Is(err, transport.ErrPosition) {
		t.Errorf("backwards = %v, want ErrPosition", err)
	}
	want := transport.Counts{Posted: 6, Acked: 4, PostedBytes: 60, AckedBytes: 40, RoundTrips: 1}
	if c := counts(&l); c != want || l.Bytes() != 20 {
		t.Errorf("counts %+v, bytes %d, want %+v and 20", c, l.Bytes(), want)
	}
}

func TestHeldTakesNothing(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 3)
	l.Hold()
	l.Hold()
	if err := l.Ack(2); err != nil || len(g.executed) > 0 {
		t.Errorf("an acknowledgement of held books = %v, executed %v", err, g.executed)
	}
	defer func() {
		if recover() == nil {
			t.Error("Push into held books must panic")
		}
	}()
	fill(&l, g, 3, 4)
}

func TestPurge(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 10)
	if r, err := l.Purge(5, nil); !errors.Is(err, transport.ErrNotHeld) || r != (transport.PurgeResult{}) {
		t.Fatalf("purge of healthy books = %+v, %v", r, err)
	}
	if err := l.Ack(2); err != nil {
		t.Fatal(err)
	}
	l.Hold()
	for _, bad := range []uint64{0, 1, 11, ^uint64(0)} {
		if r, err := l.Purge(bad, nil); !errors.Is(err, transport.ErrPosition) || r.Remaining != 8 {
			t.Errorf("purge with %d = %+v, %v, want ErrPosition with 8 remaining", bad, r, err)
		}
	}
	var handed []uint64
	stop := errors.New("stop")
	limit := 2
	fn := func(f *transport.Frame) error {
		if len(handed) == limit {
			return stop
		}
		handed = append(handed, f.Tag)
		return nil
	}
	if r, err := l.Purge(5, fn); err != stop || r != (transport.PurgeResult{Delivered: 3, Handed: 2, Remaining: 3}) {
		t.Fatalf("purge that fails at the third = %+v, %v", r, err)
	}
	if _, err := l.Purge(6, fn); !errors.Is(err, transport.ErrPosition) {
		t.Errorf("a second position = %v, want ErrPosition", err)
	}
	limit = 100
	if r, err := l.Purge(5, fn); err != nil || r != (transport.PurgeResult{Handed: 3}) {
		t.Errorf("the rest = %+v, %v", r, err)
	}
	if r, err := l.Purge(5, fn); err != nil || r != (transport.PurgeResult{}) {
		t.Errorf("nothing left = %+v, %v", r, err)
	}
	if !equal(handed, 5, 6, 7, 8, 9) || !equal(g.executed, 0, 1, 2, 3, 4) || !equal(g.sent, 1, 3) {
		t.Errorf("handed %v, executed %v, sent %v", handed, g.executed, g.sent)
	}
}

// A lane may be canceled before the peer states its position: the position is still one that can be.
func TestPurgeAfterCancel(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 6)
	l.Ack(2)
	mine := errors.New("mine")
	l.Cancel(mine)
	if len(g.executed) != 6 || g.errs[1] != nil || g.errs[2] != mine || g.errs[5] != mine {
		t.Fatalf("Cancel: executed %v, errors %v", g.executed, g.errs)
	}
	if _, err := l.Purge(1, nil); !errors.Is(err, transport.ErrPosition) {
		t.Errorf("below what was acknowledged = %v, want ErrPosition", err)
	}
	if r, err := l.Purge(4, nil); err != nil || r != (transport.PurgeResult{}) {
		t.Errorf("purge after cancel = %+v, %v, want zero", r, err)
	}
	if len(g.executed) != 6 {
		t.Errorf("an entry ended twice: %v", g.executed)
	}
}

func TestCancelInsidePurge(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 5)
	l.Hold()
	r, err := l.Purge(1, func(f *transport.Frame) error {
		if f.Tag == 2 {
			l.Cancel(transport.ErrClosed) // an engine that closes the endpoint in the middle
		}
		return nil
	})
	if err != nil || l.Len() != 0 || r.Handed != 1 || !equal(g.executed, 0, 2, 3, 4) {
		t.Errorf("purge = %+v, %v, Len %d, executed %v", r, err, l.Len(), g.executed)
	}
}

func TestCallbacksSeeClosedBooks(t *testing.T) {
	var l ledger.Ledger
	g := new(log)
	fill(&l, g, 0, 64) // exactly the first ring: a push from inside grows it
	g.inside = func(tag uint64) {
		if l.Acked() != tag+1 {
			t.Errorf("inside Executed(%d) the books begin at %d", tag, l.Acked())
		}
		if tag < 40 {
			fill(&l, g, 64+3*tag, 67+3*tag)
		}
		if tag == 50 {
			l.Cancel(transport.ErrClosed)
		}
	}
	fill(&l, g, 0, 0)
	l.Ack(60)
	if l.Len() != 0 || len(g.executed) != 64+120 {
		t.Errorf("%d left, %d ended of %d", l.Len(), len(g.executed), 64+120)
	}
	for i, tag := range g.executed[:51] {
		if tag != uint64(i) {
			t.Fatalf("order: %v", g.executed)
		}
	}
}

func TestReleaseAndDetach(t *testing.T) {
	var l ledger.Ledger
	g, other := new(log), new(log)
	freed := 0
	mem := transport.NewBuffer(16, func(*transport.Buffer) { freed++ })
	payload := []byte("zero-copy")
	e := l.Push(&transport.Frame{ID: 1, Payload: payload, ZeroCopy: true, Done: g, Tag: 0})
	e.Mem = mem
	l.Push(&transport.Frame{ID: 1, Payload: payload, ZeroCopy: true, Done: other, Tag: 1})
	l.Push(&transport.Frame{ID: 1, Payload: payload, ZeroCopy: true, Done: g, Tag: 2})

	l.Release(l.At(0))
	l.Release(l.At(0))
	if freed != 1 || !equal(g.sent, 0) || l.At(0).Payload != nil || l.At(0).Size != len(payload) {
		t.Errorf("Release: freed %d, sent %v, payload %q", freed, g.sent, l.At(0).Payload)
	}
	if !l.Detach(only(g)) || l.Detach(only(g)) {
		t.Error("Detach must find the one frame of g that is unsent, once")
	}
	copy(payload, "---------")
	if string(l.At(2).Payload) != "zero-copy" || string(l.At(1).Payload) != "---------" {
		t.Errorf("Detach: %q and %q", l.At(2).Payload, l.At(1).Payload)
	}
	l.Ack(3)
	if !equal(g.sent, 0) || !equal(other.sent, 1) || !equal(g.executed, 0, 2) || freed != 1 {
		t.Errorf("sent %v and %v, executed %v, freed %d", g.sent, other.sent, g.executed, freed)
	}
}

// quiet is a completer without books.
type quiet struct{ n int }

func (q *quiet) Sent(uint64)            { q.n++ }
func (q *quiet) Executed(uint64, error) { q.n++ }

func TestNoAllocation(t *testing.T) {
	var l ledger.Ledger
	q := new(quiet)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 100), ZeroCopy: true, Done: q}
	round := func() {
		for range 50 {
			l.Push(f)
		}
		if err := l.Ack(l.Posted() - 3); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations in steady state, want 0", n)
	}
}

func BenchmarkPushAck(b *testing.B) {
	var l ledger.Ledger
	f := &transport.Frame{ID: 1, Payload: make([]byte, 100), Done: new(quiet)}
	for i := range b.N {
		l.Push(f)
		if i%16 == 15 {
			l.Ack(l.Posted())
		}
	}
}

// only accepts one completer.
func only(done transport.Completer) func(transport.Completer) bool {
	return func(c transport.Completer) bool { return c == done }
}
