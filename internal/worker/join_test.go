package worker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// guest dials by hand, and keeps what it is told.
type guest struct {
	deaf
	ids    []uint8
	reject wire.Reject
}

func (g *guest) Frame(in *transport.Incoming) {
	g.ids = append(g.ids, in.ID)
	if in.ID == wire.IDReject {
		g.reject, _ = wire.DecodeReject(in.Head)
	}
}

// knock asks at b's address for the nth lane of the endpoint that a has there, with its key.
func (s *stage) knock(t *testing.T, iface transport.Iface, addr string, n uint64) *guest {
	t.Helper()
	g := &guest{}
	tep, err := iface.Dial("", addr, transport.Options{Window: 1 << 16}, g)
	if err != nil {
		t.Fatal(err)
	}
	h := s.b.ep.Lane(n)
	g.say(tep, wire.IDPreface, wire.Preface{Nonce: h.Nonce}.AppendTo(nil))
	g.say(tep, wire.IDHello, h.AppendTo(nil))
	for range 20 {
		iface.Progress()
		iface.Flush()
		s.a.turn()
		s.b.turn()
		s.net.StepTo(s.net.Now() + 10*time.Microsecond)
	}
	return g
}

// TestJoinOnlyWithItsSecret: a lane with the right join key joins its endpoint only where what proved the first one is asked for: not by a listener without a
// secret beside it, at which nothing else is proved.
func TestJoinOnlyWithItsSecret(t *testing.T) {
	s := newStageOf(t, 1, wire.ModeFailover, 0, theSecret(t))
	if _, err := s.b.eng.Listen("b0:8", worker.ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	host := s.net.Host("s", "s0")
	iface, err := host.Open(host.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer iface.Close()
	g := s.knock(t, iface, "b0:8", 50)
	if !slices.Contains(g.ids, wire.IDReject) || g.reject.Code != wire.RejectSecret || len(s.b.ep.Lanes()) != 1 {
		t.Errorf("answered with frames %d, %+v; %d lanes", g.ids, g.reject, len(s.b.ep.Lanes()))
	}
}

// TestHalfOpenLanes: a dialer whom the answers don't reach tries again and again, and each time a lane comes up here. As many of them as there may be keep
// nobody out: the next one takes the place of the oldest on which nothing has come.
func TestHalfOpenLanes(t *testing.T) {
	s := newStage(t, 1, wire.ModeFailover)
	host := s.net.Host("s", "s0")
	iface, err := host.Open(host.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer iface.Close()
	s.net.CutRail("a0", sim.Silence, sim.Both)
	const most = 16
	for n := range uint64(most - 1) {
		if g := s.knock(t, iface, "b0:7", 50+n); !slices.Contains(g.ids, wire.IDHelloAck) {
			t.Fatalf("lane %d: frames %d", n+1, g.ids)
		}
	}
	if g := s.knock(t, iface, "b0:7", 70); g.reject.Code != wire.RejectLimit {
		t.Errorf("lanes that have just come up made room: frames %d", g.ids)
	}
	later := func() {
		for end := s.net.Now() + 100*time.Millisecond; s.net.Now() < end; {
			s.net.StepTo(end)
		}
	}
	later()
	for n := range uint64(most + 4) {
		if g := s.knock(t, iface, "b0:7", 80+n); !slices.Contains(g.ids, wire.IDHelloAck) {
			t.Errorf("when the others are old: frames %d, %+v", g.ids, g.reject)
		}
		later()
	}
	up := 0
	for _, l := range s.b.ep.Lanes() {
		if l.State == lane.Up {
			up++
		}
	}
	if up != most {
		t.Errorf("%d lanes are up", up)
	}
}

// TestMostLanes: an endpoint takes no more lanes than its own side has set, however many the peer asks for.
func TestMostLanes(t *testing.T) {
	s := newStage(t, 1, wire.ModeFailover)
	host := s.net.Host("s", "s0")
	iface, err := host.Open(host.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer iface.Close()
	const most = 16
	for n := range uint64(most + 4) {
		g := s.knock(t, iface, "b0:7", 50+n)
		if in := n+1 < most; slices.Contains(g.ids, wire.IDHelloAck) != in || !in && (g.reject.Code != wire.RejectLimit || !strings.Contains(g.reject.Text, "16 lanes")) {
			t.Fatalf("lane %d beside the first: frames %d, %+v", n+1, g.ids, g.reject)
		}
	}
	if n := len(s.b.ep.Lanes()); n != most {
		t.Errorf("%d lanes", n)
	}
}
