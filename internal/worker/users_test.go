package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// What users of other libraries have met (B10 is one of those rows): each that time plays a part in is a test in virtual time.

// sends posts n messages and a flush, and waits for its end.
func (s *stage) sends(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if _, err := s.a.ep.PostAM(1, nil, []byte("hello")); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	f, err := s.a.ep.PostFlush(outbox.Flushing{})
	if err != nil || f != nil && (!s.until(time.Second, func() bool { return f.Reported }) || f.Err != nil) {
		t.Fatalf("flush at %v: %v, %v", s.net.Now(), err, f)
	}
	if f != nil {
		s.a.eng.Release(f)
	}
}

// TestB7_DeadRoute: a route is dead for five minutes. Its lane is dialed again with growing pauses, never given up, and back when the route is; meanwhile the
// other lane works, and nothing is kept of the dials.
func TestB7_DeadRoute(t *testing.T) {
	for _, kind := range []sim.Kind{sim.Silence, sim.Reset} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			s := plain(t, 1, 2, true, config.Times{})
			named := func() (n int) { fmt.Sscanf(s.a.ep.Dump(), "dialer: %d named", &n); return n }
			s.net.CutRail("a1", kind, sim.Both)
			was := named()
			for range 30 {
				s.sends(t, 10)
				s.until(10*time.Second, func() bool { return false })
			}
			if n := named() - was; n < 20 || n > 150 {
				t.Errorf("%d dials in five minutes, want 20 to 150", n)
			}
			if n := s.a.ep.Lanes(); len(n) > 2 {
				t.Errorf("%d lanes are listed", len(n))
			}
			s.net.Heal("a1")
			if !s.until(11*time.Second, func() bool { return upOf(s.a.ep) == 2 && upOf(s.b.ep) == 2 }) {
				t.Errorf("the lane is not back: %v", s.a.ep.Lanes())
			}
			s.sends(t, 10)
			if got := s.handled(); got != 310 {
				t.Errorf("%d messages came, want 310", got)
			}
		})
	}
}

func upOf(ep *worker.Endpoint) (n int) {
	for _, l := range ep.Lanes() {
		if l.State == lane.Up {
			n++
		}
	}
	return n
}

// TestB11_BurstAfterIdle: nothing happens for a second, for five, a minute, five minutes, and then much at once. No lane is lost, no error.
func TestB11_BurstAfterIdle(t *testing.T) {
	s := plain(t, 1, 2, true, config.Times{})
	for _, idle := range []time.Duration{time.Second, 5 * time.Second, time.Minute, 5 * time.Minute} {
		s.until(idle, func() bool { return false })
		s.sends(t, 300)
	}
	if n := s.a.ep.Stats().LanesLost + s.b.ep.Stats().LanesLost; n != 0 || s.handled() != 1200 {
		t.Errorf("%d lanes were lost, %d messages came", n, s.handled())
	}
}

// star is one worker with endpoints to many.
type star struct {
	net  *sim.Net
	hub  *actor
	arms []*arm
}

type arm struct {
	*actor
	ep   *worker.Endpoint // of the hub
	came int
	open []*request.Request
}

func newStar(t *testing.T, arms int) *star {
	c := config.Times{Suspended: time.Second, PeerTimeout: 300 * time.Millisecond}
	s := &stage{net: sim.New(1, sim.Config{MaxHead: 2048, Calm: true})}
	x := &star{net: s.net, hub: s.plain("hub", 1, c)}
	for i := range arms {
		x.add(t, s.plain(fmt.Sprintf("arm%d-", i), 1, c), 7)
	}
	return x
}

// add has the hub dial a worker that listens.
func (x *star) add(t *testing.T, a *actor, port int) *arm {
	addr := fmt.Sprintf("%s0:%d", a.name, port)
	l := &arm{actor: a}
	a.eng.Handle(1, func(*delivery.Message) { l.came++ })
	if _, err := a.eng.Listen(addr, worker.ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	x.net.SetLink("hub0", a.name+"0", sim.Link{BytesPerSecond: 8 << 20})
	ep, r, err := x.hub.eng.Dial([]string{addr}, worker.DialOptions{Mode: wire.ModeFailover})
	if err != nil {
		t.Fatal(err)
	}
	l.ep, x.arms = ep, append(x.arms, l)
	for end := x.net.Now() + time.Second; !r.Reported && x.net.Now() < end; {
		x.turn()
	}
	if r.Err != nil || !r.Reported {
		t.Fatal("dial:", r.Err)
	}
	x.hub.eng.Release(r)
	return l
}

func (x *star) turn() {
	n := x.hub.turn()
	for _, a := range x.arms {
		if a.eng != nil {
			n += a.turn()
		}
	}
	if n > 0 {
		return
	}
	if d := x.hub.eng.Deadline(); d > x.net.Now() {
		x.net.At(d)
	}
	for _, a := range x.arms {
		if a.eng != nil {
			if d := a.eng.Deadline(); d > x.net.Now() {
				x.net.At(d)
			}
		}
	}
	x.net.Step()
}

// stream has the hub keep 16 messages of 8 KiB under way to each, and says how many came to each in that time.
func (x *star) stream(t *testing.T, d time.Duration) (came []int) {
	for _, a := range x.arms {
		came = append(came, -a.came)
	}
	payload := make([]byte, 8<<10)
	for end := x.net.Now() + d; x.net.Now() < end; x.turn() {
		for _, a := range x.arms {
			open := a.open[:0]
			for _, r := range a.open {
				if !r.Reported {
					open = append(open, r)
				} else {
					x.hub.eng.Release(r)
				}
			}
			for a.open = open; len(a.open) < 16 && a.ep.State() != life.Failed; {
				r, err := a.ep.PostAM(1, nil, payload)
				if err != nil {
					t.Fatal(err)
				}
				if r == nil {
					break
				}
				a.open = append(a.open, r)
			}
		}
	}
	for i, a := range x.arms {
		came[i] += a.came
	}
	return came
}

// TestB10_DeadPeerCostsNobody: a peer dies with much under way to it. What goes to another has at least nine tenths of what it had, until the dead
// one is given up and after.
func TestB10_DeadPeerCostsNobody(t *testing.T) {
	x := newStar(t, 2)
	base := x.stream(t, 150*time.Millisecond)[1]
	x.arms[0].host.Kill(sim.Silence)
	x.arms[0].eng = nil
	for i := range 10 {
		if n := x.stream(t, 150*time.Millisecond)[1]; n < base*9/10 {
			t.Errorf("period %d after the death of another: %d messages, %d before", i, n, base)
		}
	}
	if st := x.arms[0].ep.State(); st != life.Failed {
		t.Errorf("the dead peer's endpoint is %v", st)
	}
}

// TestB12_OneOfEightRestarts: one of eight peers dies and is back on another port, as another process. Its old endpoint ends, a new one works, and
// the others have at least 95 % of what they had.
func TestB12_OneOfEightRestarts(t *testing.T) {
	x := newStar(t, 8)
	base := x.stream(t, 100*time.Millisecond)
	old := x.arms[3]
	old.host.Kill(sim.Reset)
	old.eng = nil
	others := func(when string) {
		for i, n := range x.stream(t, 100*time.Millisecond)[:8] {
			if i != 3 && n < base[i]*95/100 {
				t.Errorf("%s: peer %d got %d messages, %d before", when, i, n, base[i])
			}
		}
	}
	others("after the death")
	back := x.add(t, old.stage.on(old.host, old.name, config.Times{}, old.name+"0"), 8)
	others("after the restart")
	x.stream(t, 1500*time.Millisecond)
	others("after the old one has failed")
	if back.came == 0 || old.ep.State() != life.Failed {
		t.Errorf("the new process got %d messages, the old endpoint is %v", back.came, old.ep.State())
	}
}

// TestFaultOfALoss: which lanes are lost, and which not, says whose fault it looks like.
func TestFaultOfALoss(t *testing.T) {
	fault := func(ep *worker.Endpoint) string {
		for _, l := range ep.Lanes() {
			if l.State == lane.Lost {
				return l.Fault
			}
		}
		return "none is lost"
	}
	s := plain(t, 1, 2, true, config.Times{})
	s.net.Break(s.a.ep.Connection(wire.Instance{N: 1}).(transport.Endpoint), sim.Reset, sim.Both)
	s.until(time.Second, func() bool { return fault(s.a.ep) != "none is lost" })
	if got := fault(s.a.ep); got != "path" {
		t.Errorf("one of two lanes: %s", got)
	}
	x := newStar(t, 3)
	x.arms[1].host.Kill(sim.Reset)
	x.arms[1].eng = nil
	for end := x.net.Now() + 500*time.Millisecond; x.net.Now() < end; x.turn() {
	}
	if got := fault(x.arms[1].ep); got != "peer" {
		t.Errorf("one of three peers: %s", got)
	}
	x = newStar(t, 3)
	x.net.CutRail("hub0", sim.Reset, sim.Both)
	for end := x.net.Now() + 500*time.Millisecond; x.net.Now() < end; x.turn() {
	}
	if got := fault(x.arms[1].ep); got != "local port" {
		t.Errorf("all three peers: %s", got)
	}
}
