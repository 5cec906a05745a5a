package worker_test

import (
	"testing"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
)

// TestAcceptForgetsTheDead: peers that dial and go before they are accepted leave nothing behind.
func TestAcceptForgetsTheDead(t *testing.T) {
	s := newStage(t, 1, wire.ModeFailover)
	ln, err := s.b.eng.Listen("b0:8", worker.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ep, r, err := s.a.eng.Dial([]string{"b0:8"}, worker.DialOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; !r.Reported && i < 1000; i++ {
			s.turn()
		}
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		s.a.eng.Release(r)
		ep.Abort()
		for range 100 {
			s.turn()
		}
	}
	if n := len(s.b.eng.Endpoints()); n != 1 {
		t.Errorf("%d endpoints before Accept, want the one that lives: the others would use up the places of those to come", n)
	}
	ep, r, err := ln.Accept()
	if ep != nil || r == nil || err != nil {
		t.Fatalf("Accept: %v, %v, %v; nobody is there", ep, r, err)
	}
	if n := len(s.b.eng.Endpoints()); n != 1 {
		t.Errorf("%d endpoints are left, want the one that lives", n)
	}
	s.b.eng.Cancel(r)
	s.b.eng.Release(r)
}
