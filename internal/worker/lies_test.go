package worker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
)

// says posts a control frame of a's, whatever the engine thinks of it.
func says(t *testing.T, ep *worker.Endpoint, on wire.Instance, id uint8, body []byte) {
	t.Helper()
	if st := ep.Connection(on).(transport.Endpoint).Post(&transport.Frame{ID: id, Class: transport.Control, Head: body}); st != transport.Done {
		t.Fatalf("%s: %v", wire.Name(id), st)
	}
}

func lost(id wire.Instance, position uint64, have bool) []byte {
	return wire.Lost{Instance: id, Position: position, Have: have}.AppendTo(nil)
}

// TestLies: what a peer says about lost lanes that can't be ends its endpoint, with the state in the error; nothing is replayed, and another endpoint of
// the same workers notices nothing. What comes twice, late or about what nobody knows changes nothing.
func TestLies(t *testing.T) {
	d1, d2, d77 := wire.Instance{N: 1}, wire.Instance{N: 2}, wire.Instance{N: 77}
	a9 := wire.Instance{Opener: wire.Acceptor, N: 9}
	gone := func(id wire.Instance) []byte { return wire.Gone{Instance: id}.AppendTo(nil) }
	type said struct {
		id   uint8
		body []byte
	}
	for _, c := range []struct {
		name  string
		said  []said
		fails bool
	}{
		{"a position beyond what was posted", []said{{wire.IDLost, lost(d1, 5, false)}}, true},
		{"a position before what was acknowledged", []said{{wire.IDLost, lost(d1, 0, false)}}, true},
		{"a second, different position", []said{{wire.IDLost, lost(d1, 1, false)}, {wire.IDLost, lost(d1, 0, false)}}, true},
		{"an answer about a lane that is up", []said{{wire.IDLost, lost(d1, 0, true)}}, true},
		{"the end of a lane that is up", []said{{wire.IDGone, gone(d1)}}, true},
		{"a lane in my name that I never named", []said{{wire.IDLost, lost(a9, 0, false)}}, true},
		{"half a frame", []said{{wire.IDLost, lost(d1, 0, false)[:9]}}, true},
		{"no instance", []said{{wire.IDLost, lost(wire.Instance{}, 0, false)}}, true},
		{"an answer to no HELLO", []said{{wire.IDBusy, wire.Busy{Instance: d1}.AppendTo(nil)}}, true},
		{"about nobody", []said{{wire.IDLost, lost(d77, 3, false)}, {wire.IDLost, lost(d77, 4, true)}, {wire.IDGone, gone(d77)}, {wire.IDGone, gone(a9)}}, false},
		{"twice", []said{{wire.IDLost, lost(d1, 1, false)}, {wire.IDLost, lost(d1, 1, false)}, {wire.IDLost, lost(d1, 1, true)}, {wire.IDLost, lost(d1, 1, true)}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plain(t, 1, 2, true, config.Times{})
			came := map[any]int{}
			s.a.eng.Handle(1, func(m *delivery.Message) { came[m.From]++ })
			other, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{Mode: wire.ModeFailover})
			if err != nil || !s.until(time.Second, func() bool { return r.Reported }) {
				t.Fatal(err)
			}
			s.a.eng.Release(r)
			if _, err := s.b.ep.PostAM(1, nil, nil); err != nil { // it stands at position 1 of d1
				t.Fatal(err)
			}
			s.until(50*time.Millisecond, func() bool { return false })
			for _, f := range c.said {
				says(t, s.a.ep, d2, f.id, f.body)
			}
			s.until(300*time.Millisecond, func() bool { return false })
			err = s.b.ep.Err()
			if failed := s.b.ep.State() == life.Failed; failed != c.fails || failed && !errors.Is(err, outcome.ErrProtocol) {
				t.Errorf("%v, %v; want that it fails: %v", s.b.ep.State(), err, c.fails)
			}
			if c.fails && (!strings.Contains(err.Error(), "d2 up") || strings.HasPrefix(c.name, "a position") && !strings.Contains(err.Error(), "lane d1: position ")) {
				t.Errorf("the state is not told, or another reason: %v", err)
			}
			if n := came[s.a.ep]; n > 1 || !c.fails && n != 1 {
				t.Errorf("the message came %d times", n)
			}
			if other.State() != life.Ready || other.Stats().LanesLost > 0 {
				t.Errorf("another endpoint is %v, and lost %d lanes", other.State(), other.Stats().LanesLost)
			}
			s.a.ep = other
			s.sends(t, 3)
		})
	}
}

// mute is a sink that says nothing.
type mute struct{ errs int }

func (m *mute) Connected()                           {}
func (m *mute) Place(uint8, []byte, int) []byte      { return nil }
func (m *mute) Frame(*transport.Incoming)            {}
func (m *mute) Room()                                {}
func (m *mute) OnError(err error) transport.Decision { m.errs++; return transport.Complete }

// TestLostOnNoLane: what is said about lanes on a connection that is no lane is dropped with the connection, and counted.
func TestLostOnNoLane(t *testing.T) {
	s := plain(t, 1, 2, true, config.Times{})
	c := s.net.Host("c", "c0")
	i, err := c.Open(c.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	was := s.b.eng.Strangers()
	sink := &mute{}
	tep, err := i.Dial("c0", "b0:7", transport.Options{}, sink)
	if err != nil {
		t.Fatal(err)
	}
	tep.Post(&transport.Frame{ID: wire.IDLost, Class: transport.Control, Head: lost(wire.Instance{N: 1}, 0, false)})
	i.Flush()
	s.until(3*time.Second, func() bool { i.Progress(); i.Flush(); return sink.errs > 0 })
	if now := s.b.eng.Strangers(); now.Dropped != was.Dropped+1 {
		t.Errorf("%+v, was %+v: want one more that was dropped", now, was)
	}
	if n := s.b.ep.Stats().LanesLost; n != 0 || s.b.ep.State() != life.Ready {
		t.Errorf("%v, %d lanes are lost", s.b.ep.State(), n)
	}
	s.sends(t, 3)
}
