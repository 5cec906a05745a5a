package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport/sim"
)

// crowd is a server with two links and clients that come and stay.
type crowd struct {
	net     *sim.Net
	server  *actor
	clients []*actor
	came    int // messages, at the server
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	s := &stage{net: sim.New(1, sim.Config{MaxHead: 2048, Calm: true})}
	x := &crowd{net: s.net, server: s.plain("b", 2, config.Times{})}
	x.server.eng.Handle(1, func(*delivery.Message) { x.came++ })
	if _, err := x.server.eng.Listen("b0:7", worker.ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	return x
}

// enter has one more client dial the server, and says how long that took.
func (x *crowd) enter(t *testing.T) (c *actor, took time.Duration) {
	t.Helper()
	c = x.server.stage.plain(fmt.Sprintf("c%d-", len(x.clients)), 2, config.Times{})
	x.clients = append(x.clients, c)
	ep, r, err := c.eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
	if err != nil {
		t.Fatal(err)
	}
	c.ep = ep
	begun := x.net.Now()
	if !x.until(10*time.Second, func() bool { return r.Reported }) || r.Err != nil {
		t.Fatalf("%s does not get in: %v", c.name, r.Err)
	}
	c.eng.Release(r)
	return c, x.net.Now() - begun
}

func (x *crowd) turn() {
	all := append([]*actor{x.server}, x.clients...)
	n := 0
	for _, a := range all {
		n += a.turn()
	}
	if n > 0 {
		return
	}
	for _, a := range all {
		if d := a.eng.Deadline(); d > x.net.Now() {
			x.net.At(d)
		}
	}
	x.net.Step()
}

func (x *crowd) until(limit time.Duration, ok func() bool) bool {
	for end := x.net.Now() + limit; !ok() && x.net.Now() < end; {
		x.turn()
	}
	return ok()
}

// talk has each client send some messages, and wait for what it has sent, within a second.
func (x *crowd) talk(t *testing.T, n int) {
	t.Helper()
	want := x.came + n*len(x.clients)
	for _, c := range x.clients {
		for range n {
			if _, err := c.ep.PostAM(1, nil, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		f, err := c.ep.PostFlush(outbox.Flushing{})
		if err != nil || f != nil && (!x.until(time.Second, func() bool { return f.Reported }) || f.Err != nil) {
			t.Fatalf("%s: flush at %v: %v, %v", c.name, x.net.Now(), err, f)
		}
		if f != nil {
			c.eng.Release(f)
		}
	}
	if x.came != want {
		t.Errorf("%d messages have come, want %d", x.came, want)
	}
}

// TestB19_FlapsForMinutes: the link of the server goes down for 30 s and up again, 20 times, and nobody is told or everybody is. Traffic goes on all the time, each client
// that comes while it is down gets in on the other link at once, and when it is up all clients have both lanes, old ones and new ones. TestB19_ServerLinkFlaps (test/multiproc) has
// real links, for as long as a test may take.
func TestB19_FlapsForMinutes(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	for _, kind := range []sim.Kind{sim.Reset, sim.Silence} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			x := newCrowd(t)
			x.enter(t)
			for round := range rounds {
				x.net.CutRail("b1", kind, sim.Both)
				x.talk(t, 3)
				c, took := x.enter(t)
				// A dial waits a second for its other lanes.
				if lanes := c.ep.Lanes(); took > 1100*time.Millisecond || upOf(c.ep) != 1 || topo.HostOf(lanes[0].Remote) != "b0" {
					t.Errorf("round %d: the new client is in after %v, on %+v", round, took, lanes)
				}
				for range 10 {
					x.until(3*time.Second-50*time.Millisecond, func() bool { return false })
					x.talk(t, 3)
				}
				x.net.Heal("b1")
				whole := func() bool {
					for _, c := range x.clients {
						if upOf(c.ep) != 2 {
							return false
						}
					}
					return true
				}
				if !x.until(11*time.Second, whole) {
					t.Fatalf("round %d: the link is up, and not all clients have their lanes again", round)
				}
			}
			x.talk(t, 10)
			for _, c := range x.clients {
				if n := c.ep.Lanes(); len(n) != 2 {
					t.Errorf("%s has %d lanes", c.name, len(n))
				}
			}
		})
	}
}

// TestB8_AsConfigured: all lanes are gone for 40 s. With time enough the endpoint resumes and what waited is done; with less of it each operation
// ends once, with an error, and lanes that could be had again change nothing. (In a mode in which nobody takes over it ends with the first lane: litmus case 41.)
func TestB8_AsConfigured(t *testing.T) {
	for _, c := range []struct {
		name    string
		patient time.Duration
		want    life.State
	}{{"a minute", time.Minute, life.Ready}, {"ten seconds", 10 * time.Second, life.Failed}} {
		t.Run(c.name, func(t *testing.T) {
			s := plain(t, 1, 2, true, config.Times{Suspended: c.patient})
			ended := 0
			post := func() {
				for range 20 {
					r, err := s.a.ep.PostAM(1, nil, make([]byte, 1<<20)) // more than a lane takes
					if err != nil {
						t.Fatal(err)
					}
					s.a.eng.Then(r, func(err error) {
						if ended++; (err == nil) != (c.want == life.Ready) {
							t.Errorf("an operation ended with %v", err)
						}
					})
				}
			}
			s.net.CutRail("a0", sim.Reset, sim.Both)
			s.net.CutRail("a1", sim.Reset, sim.Both)
			s.until(time.Second, func() bool { return s.a.ep.State() == life.Suspended })
			post()
			s.until(40*time.Second, func() bool { return false })
			s.net.Heal("a0")
			s.net.Heal("a1")
			s.until(20*time.Second, func() bool { return false })
			if st := s.a.ep.State(); st != c.want || ended != 20 || c.want == life.Failed && s.handled() != 0 || c.want == life.Ready && s.handled() != 20 {
				t.Errorf("%v, %d operations ended, %d were executed", st, ended, s.handled())
			}
		})
	}
}

// TestLaneGivenUp: a lane that is dialed in vain for as long as redial-for says is told of once, by the side that dialed it, and dialed again, and told of as up, when the last lane goes.
func TestLaneGivenUp(t *testing.T) {
	s := plain(t, 1, 2, true, config.Times{RedialFor: 10 * time.Second})
	told := map[string][]delivery.Event{}
	for _, a := range []*actor{s.a, s.b} {
		a.eng.Calls().OnEvent = func(v any) {
			if e := v.(*delivery.Event); e.Kind == delivery.LaneGivenUp || e.Kind == delivery.LaneUp {
				told[a.name] = append(told[a.name], *e)
			}
		}
	}
	s.net.CutRail("a1", sim.Reset, sim.Both)
	lost := s.net.Now()
	s.until(9*time.Second, func() bool { return false })
	if len(told) > 0 {
		t.Errorf("told too early: %+v", told)
	}
	s.until(time.Minute, func() bool { return false })
	if len(told["a"]) != 1 || len(told["b"]) != 0 {
		t.Fatalf("told %+v", told)
	}
	e := told["a"][0]
	if after := e.At - lost; e.Kind != delivery.LaneGivenUp || e.Lane != "a1->b1:7" || !e.Dialed || e.Err == nil || e.Endpoint == nil || after < 10*time.Second || after > 11*time.Second {
		t.Errorf("%+v, after %v", e, after)
	}
	s.net.Heal("a1")
	s.until(time.Minute, func() bool { return false })
	if len(told["a"]) != 1 {
		t.Errorf("it was dialed although another lane carries on: %+v", told)
	}
	s.net.CutRail("a0", sim.Reset, sim.Both)
	if !s.until(10*time.Second, func() bool { return len(told["a"]) == 2 }) || told["a"][1].Kind != delivery.LaneUp {
		t.Errorf("no lane is left: %+v", told)
	}
}

// TestSilentCarrier: a lane is lost, and the one that carries the dialogue about it is silent, with no work of its own. The third one takes over at once: what is asked there owes an
// answer as work does, and the keepalive, which is never, isn't waited for.
func TestSilentCarrier(t *testing.T) {
	for _, lanes := range []int{2, 3} {
		s := plain(t, 1, lanes, true, config.Times{Keepalive: time.Hour})
		s.until(time.Second, func() bool { return false })
		first := ""
		for _, l := range s.a.ep.Lanes() {
			if l.Instance.N == 1 {
				first = topo.HostOf(l.Local)
			}
		}
		for range 20 { // under way on one lane, or another
			if _, err := s.a.ep.PostAM(1, nil, make([]byte, 100<<10)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := s.a.ep.PostFlush(outbox.Flushing{})
		if err != nil {
			t.Fatal(err)
		}
		s.net.CutRail(map[string]string{"a0": "a1", "a1": "a0"}[first], sim.Silence, sim.Both)
		s.net.CutRail(first, sim.Reset, sim.Both)
		at := s.net.Now()
		if lanes == 2 { // it comes back, and the peer answers on it
			s.until(20*time.Millisecond, func() bool { return false })
			s.net.Heal(first)
		}
		if !s.until(2*time.Second, func() bool { return f.Reported }) || f.Err != nil || s.handled() != 20 {
			t.Fatalf("%d lanes: %v after the loss: flush %+v, %d handled, %+v", lanes, s.net.Now()-at, f, s.handled(), s.a.ep.Lanes())
		}
		s.a.eng.Release(f)
	}
}
