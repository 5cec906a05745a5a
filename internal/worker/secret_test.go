package worker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport/sim"
)

// TestJoinBeforeConfirm: a further lane is there before the first one is confirmed, which has a slow way. It is let in: that the peer knows
// the key of the endpoint proves that it is there.
func TestJoinBeforeConfirm(t *testing.T) {
	s := emptyStage(2, 0)
	ln, err := s.b.eng.Listen("b0:7", worker.ListenOptions{Secret: theSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	ep, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Secret: theSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(s.b.eng.Endpoints()) == 0 && i < 1000; i++ {
		s.turn()
	}
	s.net.SetLink("a0", "b0", sim.Link{Latency: 100 * time.Millisecond}) // what confirms the first lane
	var accepted *worker.Endpoint
	for end := s.net.Now() + 50*time.Millisecond; s.net.Now() < end && s.turn(); {
	}
	if accepted, _, err = ln.Accept(); err != nil || accepted == nil || !r.Reported || r.Err != nil {
		t.Fatalf("accepted %v, dial %v %v\n%s", accepted != nil, r.Reported, r.Err, s.log.String())
	}
	if ls := accepted.Lanes(); len(ls) != 2 || ls[0].Instance.N != 2 || ls[0].State != lane.Up || ls[1].State != lane.Opening {
		t.Errorf("%+v", ls)
	}
	for end := s.net.Now() + 200*time.Millisecond; s.net.Now() < end && s.turn(); {
	}
	if ls := accepted.Lanes(); len(ls) != 2 || ls[1].State != lane.Up {
		t.Errorf("%+v", ls)
	}
	ep.Abort()
}

// TestNeverConfirmed: who does not confirm gets no endpoint, and costs a place for two seconds.
func TestNeverConfirmed(t *testing.T) {
	s := emptyStage(1, 0)
	ln, err := s.b.eng.Listen("b0:7", worker.ListenOptions{Secret: theSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Secret: theSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(s.b.eng.Endpoints()) == 0 && i < 1000; i++ {
		s.turn()
	}
	since := s.net.Now()
	s.net.CutRail("a0", sim.Silence, sim.Both)
	for s.net.Now() < since+time.Second && s.turn() {
	}
	if n := len(s.b.eng.Endpoints()); n != 1 {
		t.Errorf("%d endpoints after a second: the dialer, who may think that it is up, could not come back", n)
	}
	for s.net.Now() < since+3*time.Second && s.turn() {
	}
	if n := len(s.b.eng.Endpoints()); n != 0 {
		t.Errorf("%d endpoints after three seconds", n)
	}
	if got := s.b.eng.Strangers(); got.Dropped != 1 || got.HalfOpen != 0 {
		t.Errorf("%+v", got)
	}
	if ep, r, err := ln.Accept(); ep != nil || err != nil {
		t.Errorf("accepted %v, %v", ep, err)
	} else {
		s.b.eng.Cancel(r)
		s.b.eng.Release(r)
	}
}

// TestSecretPerListener: a secret is of one listener: one beside it without any takes nobody who has one. For further lanes: TestJoinOnlyWithItsSecret.
func TestSecretPerListener(t *testing.T) {
	s := newStageOf(t, 1, 0, 0, theSecret(t))
	if _, err := s.b.eng.Listen("b0:8", worker.ListenOptions{}); err != nil {
		t.Fatal(err)
	}
	other, r, err := s.a.eng.Dial([]string{"b0:8"}, worker.DialOptions{Secret: theSecret(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; !r.Reported && i < 1000; i++ {
		s.turn()
	}
	if !errors.Is(r.Err, secret.ErrSecret) || !strings.Contains(r.Err.Error(), "listening side has none") {
		t.Errorf("%v", r.Err)
	}
	other.Abort()
	s.a.eng.Release(r)
}

// TestListenerClosedMeanwhile: who was let into the room before the listener closed, and says who he is after, gets no endpoint that nobody
// could accept.
func TestListenerClosedMeanwhile(t *testing.T) {
	for _, both := range []secret.Secret{{}, theSecret(t)} {
		for turns := range 12 {
			s := emptyStage(1, 0)
			ln, err := s.b.eng.Listen("b0:7", worker.ListenOptions{Secret: both})
			if err != nil {
				t.Fatal(err)
			}
			ep, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Secret: both})
			if err != nil {
				t.Fatal(err)
			}
			for range turns {
				s.turn()
			}
			ln.Close()
			for i := 0; !r.Reported && i < 1000; i++ {
				s.turn()
			}
			for range 20 {
				s.turn()
			}
			if n := len(s.b.eng.Endpoints()); n != 0 {
				t.Errorf("secret %v, closed after %d turns: %d endpoints are left", both, turns, n)
			}
			ep.Abort()
		}
	}
}
