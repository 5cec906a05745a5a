package failover

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// TestAnyEvents: whatever comes, Step doesn't panic, sends only on lanes that are up, states one position per
// instance and purges with one, and says nothing but EP_CLOSED once it is over. The same events give the same actions.
func TestAnyEvents(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 200
	}
	for seed := range seeds {
		luck := rand.New(rand.NewPCG(seed, 2))
		m, twin := New(wire.Side(seed&1)), New(wire.Side(seed&1))
		check := judge{stated: map[wire.Instance]uint64{}, purged: map[wire.Instance]bool{}}
		for range 60 {
			if luck.IntN(4) == 0 {
				m.NextInstance()
				twin.NextInstance()
			}
			e := anyEvent(luck, m)
			over := m.over
			actions := slices.Clone(m.Step(e))
			if err := check.step(m, e, actions, over); err != nil {
				t.Fatalf("seed %d: %v: %v\n%s", seed, e.What, err, m.Dump())
			}
			if fmt.Sprint(actions) != fmt.Sprint(twin.Step(e)) || m.Dump() != twin.Dump() {
				t.Fatalf("seed %d: not the same twice", seed)
			}
		}
	}
}

// anyEvent makes an event that is more or less likely.
func anyEvent(luck *rand.Rand, m *Machine) Event {
	id := func() wire.Instance {
		if n := len(m.recs); n > 0 && luck.IntN(4) > 0 {
			return m.recs[luck.IntN(n)].id
		}
		return wire.Instance{Opener: wire.Side(luck.IntN(2)), N: uint64(luck.IntN(6))}
	}
	e := Event{
		What: What(luck.IntN(int(Ended))), ID: id(), On: id(), Position: uint64(luck.IntN(3)), Own: uint64(luck.IntN(3)),
		Have: luck.IntN(2) == 0, Echo: luck.IntN(2) == 0, Restarted: luck.IntN(2) == 0,
	}
	if luck.IntN(100) == 0 {
		e.What = What(luck.IntN(256))
	}
	if m.State(e.ID) == Up && (e.What == BusyArrived || e.What == ClosedArrived || e.What == GoneArrived) {
		e.What = Broke // else no run is long
	}
	return e
}

type judge struct {
	stated map[wire.Instance]uint64
	purged map[wire.Instance]bool
}

func (j *judge) step(m *Machine, e Event, actions []Action, over bool) error {
	for _, a := range actions {
		if over && a.Do != SendClosed {
			return fmt.Errorf("%s after the end", show(a))
		}
		switch a.Do {
		case SendLost, SendGone:
			if m.State(a.On) != Up {
				return fmt.Errorf("%s, which isn't up", show(a))
			}
		case Purge:
			if j.purged[a.ID] || a.Position != e.Position {
				return fmt.Errorf("%s: before: %v", show(a), j.purged[a.ID])
			}
			j.purged[a.ID] = true
		case Release: // an attempt that got BUSY may be opened again by a careless engine
			delete(j.stated, a.ID)
			delete(j.purged, a.ID)
		case Fail:
			if a.Err == nil || m.Records() > 0 || len(m.Up()) > 0 || !m.over {
				return fmt.Errorf("%s, and it goes on", show(a))
			}
		case SendAck, SendBusy, SendClosed, Redial, verbs:
		}
		if p, ok := j.stated[a.ID]; a.Do == SendLost {
			if ok && p != a.Position {
				return fmt.Errorf("%s, stated %d before", show(a), p)
			}
			j.stated[a.ID] = a.Position
		}
	}
	return nil
}

// TestRides: what comes with LOST goes to Purge.
func TestRides(t *testing.T) {
	m := New(wire.Acceptor)
	d1, d2 := wire.Instance{N: 1}, wire.Instance{N: 2}
	m.Step(Event{What: HelloArrived, ID: d1})
	m.Step(Event{What: HelloArrived, ID: d2})
	got := m.Step(Event{What: LostArrived, ID: d1, On: d2, Position: 3, Own: 4, Bytes: 5, Refusals: 6})
	want := []Action{
		{Do: Purge, ID: d1, Position: 3, Bytes: 5, Refusals: 6},
		{Do: SendLost, ID: d1, On: d2, Position: 4, Have: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// TestQueries: what the engine asks between steps.
func TestQueries(t *testing.T) {
	m := New(wire.Dialer)
	id := m.NextInstance()
	if id != (wire.Instance{Opener: wire.Dialer, N: 1}) || m.Live(id) || !m.Idle() || m.State(id) != Absent {
		t.Errorf("named only: %v, live %v, idle %v, %v", id, m.Live(id), m.Idle(), m.State(id))
	}
	m.Step(Event{What: Opened, ID: id})
	if !m.Live(id) || m.Idle() || m.Records() != 1 || len(m.Up()) != 0 {
		t.Errorf("opening: live %v, idle %v, %d records", m.Live(id), m.Idle(), m.Records())
	}
	m.Step(Event{What: HelloAcked, ID: id})
	if up := m.Up(); !m.Live(id) || !m.Idle() || len(up) != 1 || up[0] != id {
		t.Errorf("up: live %v, idle %v, %v", m.Live(id), m.Idle(), up)
	}
	m.Step(Event{What: Broke, ID: id, Position: 2})
	if m.Live(id) || m.Idle() || m.State(id) != Asking || !strings.Contains(m.Dump(), "d1 asking: mine 2") {
		t.Errorf("lost: live %v, idle %v\n%s", m.Live(id), m.Idle(), m.Dump())
	}
}

// TestProtocolError: it says what, where, why, and what to do.
func TestProtocolError(t *testing.T) {
	m := New(wire.Acceptor)
	d1 := wire.Instance{N: 1}
	m.Step(Event{What: HelloArrived, ID: d1})
	actions := m.Step(Event{What: GoneArrived, ID: d1, On: d1})
	var err *ProtocolError
	if !errors.As(actions[0].Err, &err) {
		t.Fatalf("%v", actions)
	}
	if err.Local || err.State != Up || err.Event.ID != d1 || !strings.Contains(err.Dump, "d1 up") {
		t.Errorf("%+v", err)
	}
	for _, part := range []string{"peer", "GoneArrived", "d1", "up", "same version"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q isn't in %v", part, err)
		}
	}
}

// TestAllocations: losing a lane and getting a new one takes no memory once there was one.
func TestAllocations(t *testing.T) {
	m := New(wire.Dialer)
	keep := m.NextInstance()
	m.Step(Event{What: Opened, ID: keep})
	m.Step(Event{What: HelloAcked, ID: keep})
	turn := func() {
		id := m.NextInstance()
		m.Step(Event{What: Opened, ID: id})
		m.Step(Event{What: HelloAcked, ID: id})
		m.Step(Event{What: Broke, ID: id, Position: 9})
		m.Step(Event{What: LostArrived, ID: id, On: keep, Position: 7})
		m.Step(Event{What: GoneArrived, ID: id, On: keep})
		m.Up()
	}
	turn()
	if n := testing.AllocsPerRun(200, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if !m.Idle() || len(m.Up()) != 1 {
		t.Error(m.Dump())
	}
}
