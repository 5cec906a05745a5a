package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
)

// nobody is told how frames end.
type nobody struct{}

func (nobody) Sent(uint64)            {}
func (nobody) Executed(uint64, error) {}

// fills waits until b reads a fragment into its place on a lane.
func (s *stage) fills(id wire.Instance) bool {
	return s.until(5*time.Millisecond, func() bool { return s.b.ep.Filling(id) })
}

func (s *stage) post(t *testing.T, on wire.Instance, frames []transport.Frame) {
	t.Helper()
	for i := range frames {
		if st := s.a.ep.Connection(on).(transport.Endpoint).Post(&frames[i]); st != transport.Done {
			t.Fatal("post:", st)
		}
	}
}

// stalled is a pair of two lanes: on the first, frames were sent, the last of which arrived by half and no further.
func stalled(t *testing.T, frames []transport.Frame) (s *stage, first, second wire.Instance) {
	t.Helper()
	for seed := range uint64(100) { // how much still arrives of what is cut off is luck
		s = plain(t, seed, 2, false, config.Times{})
		first, second = s.a.ep.Lanes()[0].Instance, s.a.ep.Lanes()[1].Instance
		s.post(t, first, frames)
		if !s.fills(first) {
			continue
		}
		s.net.Break(s.a.ep.Connection(first).(transport.Endpoint), sim.Silence, sim.Out)
		s.until(time.Millisecond, func() bool { return false })
		if s.b.ep.Filling(first) {
			return s, first, second
		}
	}
	t.Fatal("no frame stalls half way")
	return nil, first, second
}

// TestFragmentTwice: a peer that sends a fragment on one lane, and again on another while the first is still being read into
// the message, breaks the protocol. The message isn't delivered: its handler would read what is still being written.
func TestFragmentTwice(t *testing.T) {
	const total, begun = 50_000, 1000
	frag := transport.Frame{ID: wire.IDAMFrag, Head: wire.AMFrag{Msg: 70, Offset: begun}.AppendTo(nil), Payload: make([]byte, total-begun), Done: nobody{}}
	part := transport.Frame{ID: wire.IDAMPart, Head: wire.AMPart{Msg: 70, Total: total}.AppendTo(nil), Payload: make([]byte, total), Done: nobody{}}
	message := wire.AMFirst{ID: 1, Msg: 70, Total: total, Header: make([]byte, 4)}
	for _, c := range []struct {
		name          string
		first, second []transport.Frame
	}{
		{"fragment",
			[]transport.Frame{{ID: wire.IDAMFirst, Head: message.AppendTo(nil), Payload: make([]byte, begun), Done: nobody{}}, frag},
			[]transport.Frame{frag}},
		{"part", []transport.Frame{part}, []transport.Frame{part, {ID: wire.IDAMLast, Head: wire.AMLast(message).AppendTo(nil), Done: nobody{}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, second := stalled(t, c.first)
			s.post(t, second, c.second)
			for i := 0; s.b.ep.State() != life.Failed && i < 1000; i++ { // a has no turn: it doesn't know what it sent
				if s.a.eng.Flush(); s.b.turn() == 0 {
					s.net.Step()
				}
			}
			if err := s.b.ep.Err(); !errors.Is(err, outcome.ErrProtocol) || !errors.Is(err, reassembly.ErrFragment) || s.handled() > 0 {
				t.Errorf("%v, %d messages handled, want %v and 0", err, s.handled(), reassembly.ErrFragment)
			}
		})
	}
}

// TestFragmentReplayed: a fragment whose lane is lost while it is read into its place comes again on another, and the message
// is delivered once.
func TestFragmentReplayed(t *testing.T) {
	for seed := range uint64(30) { // by luck the rest of it still arrives or doesn't
		s := plain(t, seed, 2, false, config.Times{})
		r, err := s.a.ep.PostAM(1, make([]byte, 4), make([]byte, 200_000))
		if err != nil {
			t.Fatal(err)
		}
		s.a.keep("message", r, nil)
		lane := s.a.ep.Lanes()[0].Instance
		if !s.fills(lane) {
			continue
		}
		s.net.Break(s.a.ep.Connection(lane).(transport.Endpoint), sim.Reset, sim.Both)
		s.until(300*time.Millisecond, func() bool { return false })
		if s.handled() != 1 || s.b.ep.State() != life.Ready {
			t.Errorf("seed %d: handled %d times, %v: %v", seed, s.handled(), s.b.ep.State(), s.b.ep.Err())
		}
	}
}
