package stream

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/stream"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// patience is how long anything may take that should take milliseconds, on a busy machine.
const patience = 60 * time.Second

var rails = []string{"127.0.0.1", "127.0.0.2"}

// sides is a server and a client with two lanes between them, of which the test cuts one at a time.
type sides struct {
	t        *testing.T
	ln       *stream.Listener
	cm       *stream.Mux
	inj      *fault.Injector
	up, down atomic.Int32
	lanes    chan struct{} // something changed
}

func newSides(t *testing.T) *sides {
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
	begun := time.Now()
	s := &sides{t: t, lanes: make(chan struct{}, 1), inj: fault.New(func() time.Duration { return time.Since(begun) + 1 })}
	t.Cleanup(func() { s.inj.Close() })
	server := s.open(braid.Options{})
	client := s.open(braid.Options{
		Rails: rails, Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: s.inj})}, OnEvent: s.event,
		Times: braid.Times{RedialMax: 100 * time.Millisecond, Keepalive: 200 * time.Millisecond},
	})
	var err error
	if s.ln, err = server.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.cm = client
	return s
}

func (s *sides) open(o braid.Options) *stream.Mux {
	s.t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		s.t.Fatal(err)
	}
	w, err := n.NewWorker()
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		m.Close()
		n.Close()
	})
	return m
}

func (s *sides) addr() string { return s.ln.Addr().String() }

func (s *sides) event(e braid.Event) {
	switch e.Kind {
	case braid.LaneUp:
		s.up.Add(1)
	case braid.LaneDown:
		s.up.Add(-1)
		s.down.Add(1)
	case braid.HandedOver, braid.Suspended, braid.Resumed, braid.Failed, braid.TurnedAway, braid.LaneGivenUp:
	}
	select {
	case s.lanes <- struct{}{}:
	default:
	}
}

// await waits until the lanes are as wanted.
func (s *sides) await(what string, ok func() bool) {
	s.t.Helper()
	late := time.After(patience)
	for !ok() {
		select {
		case <-s.lanes:
		case <-late:
			s.t.Fatalf("waited in vain until %s: %d lanes are up, %d went down", what, s.up.Load(), s.down.Load())
		}
	}
}

// whole waits until both lanes are up.
func (s *sides) whole() {
	s.t.Helper()
	s.await("both lanes are up", func() bool { return s.up.Load() == int32(len(rails)) })
}

// cut cuts lane i once both are up, and returns when that was noticed.
func (s *sides) cut(i int, kind fault.Kind) {
	s.t.Helper()
	s.whole()
	before := s.down.Load()
	s.inj.Cut(rails[i], kind, 20*time.Millisecond)
	s.await("the cut is noticed", func() bool { return s.down.Load() > before })
}

// cuts cuts lanes in turn, both ways.
func (s *sides) cuts(n int) {
	s.t.Helper()
	for i := range n {
		s.cut(i%2, []fault.Kind{fault.Reset, fault.Silence}[i/2%2])
	}
	s.whole()
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
