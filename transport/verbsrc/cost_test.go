//go:build linux && verbs

package verbsrc_test

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/verbsrc"
)

// end is an iface with one endpoint, and its sink.
type end struct {
	t     testing.TB
	i     transport.Iface
	count interface{ Crossings() uint64 }
	ep    transport.Endpoint
	up    bool
	got   int
	most  uint64 // crossings of one Progress
	turns int
}

func (e *end) Connected()                      { e.up = true }
func (e *end) Place(uint8, []byte, int) []byte { return nil }
func (e *end) Frame(*transport.Incoming)       { e.got++ }
func (e *end) Room()                           {}
func (e *end) OnError(err error) transport.Decision {
	e.t.Errorf("the connection broke: %v", err)
	return transport.Complete
}

// Accepted implements transport.Acceptor.
func (e *end) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	e.ep, e.up = ep, true
	return e, transport.Options{}
}

// turn is one Progress, and how often it crossed.
func (e *end) turn() (did int) {
	before := e.count.Crossings()
	did = e.i.Progress()
	e.most = max(e.most, e.count.Crossings()-before)
	e.turns++
	return did
}

// flush is one Flush, and how often it crossed.
func (e *end) flush() uint64 {
	before := e.count.Crossings()
	e.i.Flush()
	return e.count.Crossings() - before
}

func newEnd(t testing.TB, luck uint64) *end {
	t.Helper()
	e := &end{t: t}
	start := time.Now()
	var err error
	e.i, err = verbsrc.NewSeen(verbsrc.Options{RC: rc.Options{TrustNetwork: true, Timeout: 16}}, func(d rdma.Device) { e.count = d.(interface{ Crossings() uint64 }) }).Open(transport.Env{
		Now: func() time.Duration { return time.Since(start) + 1 }, Log: slog.New(slog.DiscardHandler),
		Rand: func() uint64 { luck = luck*6364136223846793005 + 1442695040888963407; return luck },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.i.Close() })
	e.i.Watch(false) // who polls arms nothing
	return e
}

// TestCrossings: Progress goes to the adapter once for each completion queue that the port has, however many completions are in it, and once in 64 turns more for what happens by itself. Flush goes there
// once for all that it sends, and once for all receives that it posts.
func TestCrossings(t *testing.T) {
	before := verbs.Objects()
	t.Cleanup(func() {
		if n := verbs.Objects() - before; n != 0 {
			t.Errorf("%d objects of libibverbs are left", n)
		}
	})
	a, b := connected(t)
	const queues, events, posts = 2, 1, 1 // of a port with one size of receives: for what was sent, and for what comes
	head, payload := make([]byte, 8), make([]byte, 20<<10)
	frames, lists := 0, 0
	for range 20 {
		for k := range 3 { // of which the last one does not fill up what Post sends by itself
			if st := a.ep.Post(&transport.Frame{ID: 1, Class: transport.Data, Head: head, Payload: payload}); st != transport.Done {
				t.Fatalf("frame %d: %v", k, st)
			}
			frames++
		}
		if n := a.flush(); n != posts {
			t.Errorf("three frames of %d bytes, flushed: %d crossings", len(payload), n)
		}
		lists++
		for end := time.Now().Add(2 * time.Minute); b.got < frames || a.ep.Counts().Acked < uint64(frames); {
			if time.Now().After(end) {
				t.Fatalf("%d frames of %d came", b.got, frames)
			}
			a.turn()
			b.turn()
			if n := b.flush(); n > 2*posts { // receives anew, and a word of acknowledgement
				t.Errorf("a flush of who receives: %d crossings", n)
			}
			if n := a.flush(); n > 2*posts {
				t.Errorf("a flush of who sends: %d crossings", n)
			}
		}
	}
	for _, e := range []*end{a, b} {
		if e.most > queues+events {
			t.Errorf("a Progress of %d crossed %d times: there are %d completion queues", e.turns, e.most, queues)
		}
		t.Logf("at most %d crossings in one of %d turns", e.most, e.turns)
	}
	t.Logf("%d frames of %d bytes in %d lists, a crossing each", frames, len(payload), lists)
}

// connected are two ends of one connection, at rest.
func connected(t testing.TB) (a, b *end) {
	t.Helper()
	a, b = newEnd(t, 1), newEnd(t, 2)
	l, err := b.i.Listen(net.JoinHostPort(address(t), "0"), b)
	if err != nil {
		t.Fatal(err)
	}
	if a.ep, err = a.i.Dial("", l.Addr(), transport.Options{}, a); err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !ok(); {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
			a.turn()
			b.turn()
			a.i.Flush()
			b.i.Flush()
		}
	}
	until("a connection", func() bool { return a.up && b.up })
	for _, e := range []*end{a, b} {
		e.ep.Admit(1<<20, true)
		for range 200 {
			e.turn()
		}
		e.most, e.turns = 0, 0
	}
	return a, b
}
