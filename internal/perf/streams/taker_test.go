package streams_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/internal/perf/streams"
	"github.com/openbraid/braid/stream"
	"go.uber.org/goleak"
)

const size = 24

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened is a stream to a taker that looks at what comes.
func opened(t *testing.T, answer bool) (*stream.Conn, *streams.Taker, *ledger.Ledger) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	worker := func() *braid.Worker {
		n, err := braid.Open(braid.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		w, err := n.NewWorker()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	l := ledger.New(100)
	taker := streams.NewTaker(size, answer, l, "")
	there, here := worker(), worker()
	served, err := streams.Serve(there, func(*braid.Endpoint) *streams.Taker { return taker })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { served.Close() })
	ln, err := there.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux, err := stream.New(here, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mux.Close() })
	ep, err := here.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	c, err := mux.Open(ctx, ep)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c, taker, l
}

// operations are the bytes of those with these numbers, one behind the other.
func operations(seqs ...uint64) (b []byte) {
	for _, seq := range seqs {
		op := make([]byte, size)
		pattern.Fill(op, pattern.Base(seq, false))
		b = append(b, op...)
	}
	return b
}

func TestTaker(t *testing.T) {
	for _, c := range []struct {
		name                   string
		sent                   []byte
		arrived, corrupt, lost uint64
	}{
		{"whole", operations(0, 1, 2), 3, 0, 0},
		{"one is missing", operations(0, 2), 2, 1, 1},
		{"one came twice", operations(0, 1, 1, 2), 4, 2, 0},
		{"a byte is missing", operations(0, 1, 2)[1:], 2, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, taker, l := opened(t, false)
			if _, err := conn.Write(c.sent); err != nil {
				t.Fatal(err)
			}
			told := make(chan struct{})
			taker.When(c.arrived, func() { close(told) })
			select {
			case <-told:
			case <-time.After(30 * time.Second):
				t.Fatal("they have not arrived")
			}
			if n := taker.Close(); n != c.arrived {
				t.Errorf("%d have arrived, %d are there", n, c.arrived)
			}
			l.Trim(max(3, c.arrived))
			if got := l.Final(); got.Corrupt != c.corrupt || got.Lost != c.lost {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAnswers: each is answered, with the server's bytes; a second stream of the same test is nobody's.
func TestAnswers(t *testing.T) {
	conn, taker, _ := opened(t, true)
	for seq := range uint64(3) {
		if _, err := conn.Write(operations(seq)); err != nil {
			t.Fatal(err)
		}
		back := make([]byte, size)
		if _, err := io.ReadFull(conn, back); err != nil {
			t.Fatal(err)
		}
		if !pattern.Filled(back, pattern.Base(seq, true)) {
			t.Errorf("%d was answered by %x", seq, back)
		}
	}
	taker.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the stream outlives its taker")
	}
}
