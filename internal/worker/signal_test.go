package worker_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/wire"
)

// A put of which a frame was refused has no signal: the peer is not even asked, and the word stays.
func TestNoSignalOfWhatWasRefused(t *testing.T) {
	s := newStage(t, 2, wire.ModeFailover)
	gone := s.b.mem.Add(make([]byte, 1<<20))
	r, err := s.a.ep.PostPutSignal(make([]byte, 100_000), gone.Key(wire.Write, 'b'), 0, outbox.Signal{Key: s.b.key, Value: 1, Add: true})
	if err != nil {
		t.Fatal(err)
	}
	s.b.mem.Remove(gone)
	s.a.keep("x", r, nil)
	for _, line := range []string{"flush a f", "settle"} {
		s.do(t, strings.Fields(line))
	}
	log := s.log.String()
	inOrder(t, log, []string{"a: f ended: put b0:7: the peer's memory may not be accessed"})
	if !strings.Contains(log, "b0:7: Put ") && !strings.Contains(log, "b1:7: Put ") || strings.Contains(log, "PutSignal") || strings.Contains(log, "written") {
		t.Error(log)
	}
}
