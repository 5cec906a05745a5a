package failover

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// cases are those of the 28 that a model found, and that were told by one transcript each, as small worlds: every run of each is right, and some of
// its states are the case, which is looked for. What the transcript shows in one order is so searched in all.
var cases = []struct {
	config
	is func(r *runner) bool // this state is the case
}{
	{config{name: "08: a reply on the lane that dies too", lanes: 3, ops: "F/", cuts: 2, limit: 3}, (*runner).replyDiesAgain},
	{config{name: "17: one lane dead from A, one from B", lanes: 2, ops: "P/", oneWay: 2, opens: [2]uint8{1, 0}, limit: 2}, (*runner).crossed},
	{config{name: "19: LOST before its HELLO", lanes: 1, ops: "P/", cuts: 1, doubts: 1, opens: [2]uint8{1, 0}, limit: 2, acks: true}, (*runner).burnt},
	{config{name: "20: LOST of the old life in the new one", lanes: 1, ops: "P/", cuts: 1, opens: [2]uint8{1, 1}, limit: 2}, (*runner).stale},
	{config{name: "21: crossing reconnects", lanes: 1, ops: "P", cuts: 1, opens: [2]uint8{1, 1}, limit: 1, acks: true}, (*runner).crossing},
	{config{name: "22: a restart in the exchange", lanes: 2, ops: "P/P", cuts: 1, restarts: 1, opens: [2]uint8{1, 0}, limit: 2}, (*runner).deadPeer},
	{config{name: "23: a HELLO of a dead process", lanes: 2, ops: "P/", late: true, cuts: 1, limit: 2}, (*runner).lateHello},
	{config{name: "23: the endpoint opened again in its process", reopens: true, lanes: 2, ops: "P/P", cuts: 1, restarts: 1, opens: [2]uint8{1, 0}, limit: 2}, (*runner).deadPeer},
}

// TestCaseWorlds prints with -v how many states each world has, and how many of them are the case.
func TestCaseWorlds(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and ten times as slow")
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			x := newSearch(c.config, 2_000_000)
			n := 0
			x.each = func(r *runner) error {
				if c.is(r) {
					n++
				}
				return nil
			}
			if err := x.visit(x.key()); err != nil {
				t.Fatalf("%v\n%s", err, story(c.config, x.path))
			}
			if n == 0 {
				t.Errorf("none of %d states is the case", x.states)
			}
			t.Logf("%7d states, %6d of them the case", x.states, n)
		})
	}
}

// under says whether a frame is on its way to side s that fits.
func (r *runner) under(s int, fits func(i uint8, f frame) bool) bool {
	for i := range r.n {
		p := &r.pipe[1-s][i]
		for _, f := range p.f[:p.n] {
			if fits(i, f) {
				return true
			}
		}
	}
	return false
}

// upHere says whether side s has a lane that is up, other than i.
func (r *runner) upHere(s int, i uint8) bool {
	for k := range r.n {
		if k != i && r.m[s].State(r.ids[k]) == Up {
			return true
		}
	}
	return false
}

// replyDiesAgain: a reply of the acceptor's was on a lane that is lost, and is on its way on another one that breaks.
func (r *runner) replyDiesAgain() bool {
	return r.under(0, func(i uint8, f frame) bool {
		if f.kind != fData || r.opOf(1, f.id).kind != reply || !r.pipe[1][i].broken {
			return false
		}
		for k := range r.n {
			if t := &r.tep[1][k]; k != i && t.held && slices.Contains(t.ops[:t.posted], f.id) {
				return true
			}
		}
		return false
	})
}

// crossed: two lanes are up for both, one dead in one direction and one in the other.
func (r *runner) crossed() bool {
	var dead [2]bool
	for i := range r.n {
		if r.m[0].State(r.ids[i]) == Up && r.m[1].State(r.ids[i]) == Up && r.pipe[0][i].broken != r.pipe[1][i].broken {
			dead[r.bySide(i)] = true
		}
	}
	return dead[0] && dead[1]
}

// bySide is the side whose direction of lane i is broken.
func (r *runner) bySide(i uint8) int {
	if r.pipe[0][i].broken {
		return 0
	}
	return 1
}

// burnt: a HELLO is still on its way whose instance was lost already, and which the acceptor will not let in.
func (r *runner) burnt() bool {
	return r.under(1, func(i uint8, f frame) bool {
		seen := r.node[1].seen
		return f.kind == fHello && r.m[1].State(r.ids[i]) == Absent && !seen.take(r.ids[i].N)
	})
}

// stale: a LOST is on its way about an instance whose dialogue is over for whom it goes to, and a later one is up there.
func (r *runner) stale() bool {
	later := func(s int, than uint8) bool {
		for k := than + 1; k < r.n; k++ {
			if int(k) >= r.cfg.lanes && r.m[s].State(r.ids[k]) == Up {
				return true
			}
		}
		return false
	}
	for s := range 2 {
		if r.under(s, func(_ uint8, f frame) bool {
			return f.kind == fLost && r.m[s].State(r.ids[f.id]) == Absent && later(s, f.id)
		}) {
			return true
		}
	}
	return false
}

// crossing: each side's HELLO is on its way to the other one.
func (r *runner) crossing() bool {
	hello := func(_ uint8, f frame) bool { return f.kind == fHello }
	return r.under(0, hello) && r.under(1, hello)
}

// deadPeer: the acceptor is another one, and the dialer, who does not know, is in a dialogue with the old one and has a lane that looks up.
func (r *runner) deadPeer() bool {
	if r.node[1].restarts == 0 || r.node[0].over {
		return false
	}
	for i := range r.n {
		if r.m[0].State(r.ids[i]).lost() && r.upHere(0, i) {
			return true
		}
	}
	return false
}

// lateHello: one of a process of long ago is on its way while there is a dialogue.
func (r *runner) lateHello() bool {
	late := r.under(1, func(_ uint8, f frame) bool { return f.kind == fHello && f.from == longAgo })
	for i := range r.n {
		if late && r.m[1].State(r.ids[i]).lost() {
			return true
		}
	}
	return false
}

// lies are worlds in each of whose states each side is told each thing that can't be, and each that can.
var lies = []config{
	{name: "28: 2 lanes, cut, reconnect", lanes: 2, ops: "P/", cuts: 1, opens: [2]uint8{1, 0}, limit: 2},
	{name: "28: 2 lanes, doubted and canceled", lanes: 2, ops: "P", doubts: 1, cancels: 1, limit: 2},
	{name: "28: 1 lane, cut, both reconnect, confirmed", confirm: true, lanes: 1, ops: "P/", cuts: 1, opens: [2]uint8{1, 1}, limit: 1},
}

// TestLiesInEachState is case 28 in every state of small worlds: what can't be is a protocol error that fails the endpoint, has nothing purged, and
// leaves nothing to be said but that it is closed; what can be fails nothing, and is about no other instance.
func TestLiesInEachState(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine, and ten times as slow")
	}
	for _, cfg := range lies {
		t.Run(cfg.name, func(t *testing.T) {
			x := newSearch(cfg, 2_000_000)
			told, refused := 0, 0
			x.each = func(r *runner) error {
				for s := range 2 {
					for _, e := range r.sayings(s) {
						told++
						bad := r.impossible(s, &e)
						if bad {
							refused++
						}
						if err := r.take(s, &e, bad); err != nil {
							return fmt.Errorf("%s, told %s about %s, position %d, have %v: %w", wire.Side(s), e.What, e.ID, e.Position, e.Have, err)
						}
					}
				}
				return nil
			}
			if err := x.visit(x.key()); err != nil {
				t.Fatalf("%v\n%s", err, story(cfg, x.path))
			}
			if refused == 0 || refused == told {
				t.Errorf("%d of %d were refused", refused, told)
			}
			t.Logf("%6d states, %d things told, %d of them a protocol error", x.states, told, refused)
		})
	}
}

// sayings are what a peer can say on a lane that is up, about each instance of which anybody could have heard, and about some of which nobody has.
func (r *runner) sayings(s int) (list []Event) {
	if r.m[s].over || len(r.m[s].Up()) == 0 {
		return nil
	}
	on := r.m[s].Up()[0]
	ids := append(slices.Clone(r.ids[:r.n]), wire.Instance{Opener: wire.Side(s), N: r.m[s].next + 1}, wire.Instance{Opener: wire.Side(1 - s), N: 50})
	for _, id := range ids {
		for _, pos := range []uint64{0, 1, 2, 1 << 63} {
			for _, have := range []bool{false, true} {
				list = append(list, Event{What: LostArrived, ID: id, On: on, Position: pos, Have: have, Own: 1})
			}
		}
		for _, what := range []What{GoneArrived, HelloArrived, StrangerArrived, HelloAcked, BusyArrived, ClosedArrived} {
			list = append(list, Event{What: what, ID: id, On: on})
		}
	}
	return list
}

// impossible says whether no honest peer says that to side s.
func (r *runner) impossible(s int, e *Event) bool {
	rec := r.m[s].find(e.ID)
	state := rec.stateOf()
	mine := e.ID.Opener == wire.Side(s)
	switch e.What {
	case LostArrived:
		switch state {
		case Absent:
			return mine && e.ID.N > r.m[s].next // a name that it never gave
		case Opening:
			return e.Have || e.Position != 0 // nothing was posted there, and nobody was asked
		case Up:
			return e.Have // nobody was asked
		case Asking:
			return !rec.wasUp && e.Position != 0
		case Telling:
			return e.Position != rec.theirs // a second, different one
		case states:
		}
	case GoneArrived:
		return state == Opening || state == Up || state == Asking && rec.wasUp // an end without a position
	case HelloArrived:
		return mine && (state == Absent || state == Opening)
	case BusyArrived, ClosedArrived:
		return state == Up
	case Opened, StrangerArrived, HelloAcked, Broke, Dropped, Ended, lostConfirmed, carrierLost, turnCame, whats:
	}
	return false
}

// take has side s told of it, looks at what it makes of that, and puts it back.
func (r *runner) take(s int, e *Event, bad bool) error {
	m := r.m[s]
	next, seen := m.next, m.seen
	var room [maxInst]record
	before := append(room[:0], m.recs...)
	defer func() {
		m.next, m.seen, m.over = next, seen, false
		m.recs = append(m.recs[:0], before...)
	}()
	acts := m.Step(*e)
	var broke *ProtocolError
	purged := 0
	for i, a := range acts {
		switch {
		case a.Do == Fail && (i > 0 || !errors.As(a.Err, &broke) || broke.Local):
			return fmt.Errorf("it fails as action %d with %v", i, a.Err)
		case bad && a.Do != Fail && a.Do != Release:
			return fmt.Errorf("it says or does something more: %s", show(a))
		case a.Do == Purge && (a.ID != e.ID || a.Position != e.Position || e.What != LostArrived):
			return fmt.Errorf("it purges: %s", show(a))
		case a.Do == Purge:
			purged++
		}
	}
	switch {
	case bad != (broke != nil):
		return fmt.Errorf("a protocol error is due: %v; there is one: %v", bad, broke)
	case bad && (!m.over || len(m.recs) > 0):
		return errors.New("it goes on")
	case bad:
		if acts := m.Step(Event{What: LostArrived, ID: e.ID, On: e.On}); len(acts) != 1 || acts[0].Do != SendClosed {
			return fmt.Errorf("what comes later is answered by %v", acts)
		}
		return nil
	case purged > 1:
		return errors.New("it purges twice")
	}
	for _, b := range before {
		a := m.find(b.id)
		switch {
		case b.id == e.ID:
		case a == nil || a.state != b.state || a.mine != b.mine || a.theirs != b.theirs || a.wasUp != b.wasUp:
			return fmt.Errorf("%s was %s, which it was not about", b.id, b.describe())
		}
	}
	return nil
}
