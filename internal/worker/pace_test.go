package worker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// plain is two workers whose frames aren't logged, connected over so many lanes. b logs the messages that it handles.
func plain(t *testing.T, seed uint64, lanes int, calm bool, c config.Times) *stage {
	t.Helper()
	s := &stage{net: sim.New(seed, sim.Config{MaxHead: 2048, Calm: calm})}
	s.a, s.b = s.plain("a", lanes, c), s.plain("b", lanes, c)
	ln, err := s.b.eng.Listen("b0:7", worker.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.b.eng.Handle(1, func(*delivery.Message) { s.logf("b: handled message") })
	ep, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
	if err != nil || !s.until(time.Second, func() bool { return r.Reported }) || r.Err != nil {
		t.Fatal("dial:", err, r.Err)
	}
	s.a.eng.Release(r)
	s.a.ep = ep
	if s.b.ep, _, _ = ln.Accept(); s.b.ep == nil || len(ep.Lanes()) != lanes {
		t.Fatalf("no endpoint of %d lanes", lanes)
	}
	return s
}

func (s *stage) plain(name string, lanes int, c config.Times) *actor {
	var rails []string
	for i := range lanes {
		rails = append(rails, fmt.Sprintf("%s%d", name, i))
	}
	return s.on(s.net.Host(name, rails...), name, c, rails...)
}

// on starts a worker on a host.
func (s *stage) on(h *sim.Host, name string, c config.Times, rails ...string) *actor {
	a := &actor{stage: s, name: name, host: h, named: map[string]*request.Request{}}
	env := a.host.Env()
	var err error
	s.life++
	a.eng, err = worker.New(worker.Options{Transports: []transport.Transport{a.host}, Env: env, Memory: memory.NewTable(env.Rand),
		Incarnation: uint64(s.life), Rails: topo.View{Rails: topo.Fixed(rails...)}, Config: config.Config{Times: c}})
	if err != nil {
		panic(err)
	}
	return a
}

// until lets things happen until ok, or for so long.
func (s *stage) until(limit time.Duration, ok func() bool) bool {
	for end := s.net.Now() + limit; !ok() && s.net.Now() < end && s.turn(); {
	}
	return ok()
}

func (s *stage) handled() int { return strings.Count(s.log.String(), "b: handled message") }

// TestManyDialsInVain: a peer that was out of reach for thousands of dials, each of which left a record, comes back: the
// first lane that comes up stays up, what waited is executed, and no record is left.
func TestManyDialsInVain(t *testing.T) {
	attempts := 2000
	if testing.Short() {
		attempts = 300
	}
	s := plain(t, 1, 1, true, config.Times{Suspended: time.Hour, RedialMin: time.Millisecond, RedialMax: time.Millisecond, Handshake: 10 * time.Millisecond})
	ep := s.a.ep
	s.net.CutRail("a0", sim.Reset, sim.Both)
	s.until(time.Second, func() bool { return ep.State() == life.Suspended && s.b.ep.State() == life.Suspended })
	if _, err := ep.PostAM(1, nil, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	flush, err := ep.PostFlush(outbox.Flushing{})
	if err != nil || flush == nil {
		t.Fatal("flush without a lane:", flush, err)
	}
	records := func() int { return strings.Count(ep.Dump(), " asking") }
	s.until(time.Second, func() bool { return false })
	if n := records(); n != 1 {
		t.Errorf("%d records, want that of the lane only: no HELLO has left", n)
	}
	// The connections stand now, and the peer does not run: nobody answers the HELLOs.
	s.net.Heal("a0")
	for end := s.net.Now() + time.Minute; records() < attempts && s.net.Now() < end; {
		for range 100 {
			if s.a.turn() == 0 {
				s.net.At(s.a.eng.Deadline())
				s.net.Step()
			}
		}
	}
	if n := records(); n < attempts {
		t.Fatalf("%d records, want %d; %v", n, attempts, ep.State())
	}
	if n := len(ep.Lanes()); n > 2 {
		t.Errorf("%d lanes are listed, want the lost one and the present attempt", n)
	}
	if !s.until(time.Second, func() bool { return flush.Reported }) || flush.Err != nil {
		t.Fatalf("flush: ended %v, %v; %v: %v", flush.Reported, flush.Err, ep.State(), ep.Err())
	}
	s.a.eng.Release(flush)
	s.until(2*time.Second, func() bool { return false })
	if n := records(); n > 0 || s.handled() != 1 {
		t.Errorf("%d records are left, %d messages were handled, want 0 and 1", n, s.handled())
	}
	for _, a := range []*worker.Endpoint{ep, s.b.ep} {
		if st := a.Stats(); st.LanesUp-st.LanesLost != 1 || a == ep && st.LanesLost != 1 || a.State() != life.Ready {
			t.Errorf("%d lanes came up, %d were lost, %v: want one more, and on the dialing side 2 and 1: the healthy one stays", st.LanesUp, st.LanesLost, a.State())
		}
	}
}
