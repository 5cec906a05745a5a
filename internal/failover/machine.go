package failover

import (
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/wire"
)

// none is no instance: counters start at 1.
var none wire.Instance

// record is one instance that is opening, up or lost here.
type record struct {
	id      wire.Instance
	carrier wire.Instance // lost: the lane of its last LOST; none: marked, to be sent when a lane is up and there is room (R6)
	mine    uint64        // lost: what I accepted
	theirs  uint64        // telling: what the peer accepted
	state   State
	wasUp   bool
}

// Machine is one side of one endpoint. It has one owner at a time. New makes one.
type Machine struct {
	life  *life
	side  wire.Side
	over  bool // ended or failed: only SendClosed comes out
	next  uint64
	seen  watermark
	recs  []record // in the order in which they began here
	event Event
	came  State // of its instance, before the event did anything
	out   []Action
	up    []wire.Instance
	most  int // window: how many LOSTs may be under way before the next is sent unasked
}

// window is how many LOSTs are under way unasked. A peer that was away for a night comes back to thousands of attempts: all
// at once they would be more than a lane has room for in control frames. With as many answers to the peer's own, GONEs, and
// the next ones behind them, it is still less than 64 frames, which is the least that any transport has room for.
const window = 16

// New returns the machine of the given side.
func New(side wire.Side) *Machine {
	return &Machine{life: table, side: side, most: window}
}

// NextInstance names a new attempt of this side. A name is never used twice (R1); an attempt
// that never got as far as HELLO just leaves a gap.
func (m *Machine) NextInstance() wire.Instance {
	m.next++
	return wire.Instance{Opener: m.side, N: m.next}
}

// Step takes one event and says what to do about it. The actions are valid until the next Step.
func (m *Machine) Step(event Event) []Action {
	m.event = event // a pointer to the parameter would cost an allocation
	e := &m.event
	clear(m.out)
	m.out = m.out[:0]
	if m.over {
		if e.What == HelloArrived || e.What == StrangerArrived || e.What == LostArrived {
			m.act(Action{Do: SendClosed, ID: e.ID, On: e.On})
		}
		return m.out
	}
	r, row := m.find(e.ID), e.What
	m.came = r.stateOf()
	if row > Ended || e.ID.N == 0 && row != Ended {
		m.violated(e, "no such event or instance")
		return m.out
	}
	if row == LostArrived && e.Have {
		row = lostConfirmed
	}
	m.life[row][m.came].do(m, r, e)
	m.pace()
	return m.out
}

func (m *Machine) act(a Action) { m.out = append(m.out, a) }

// find returns the record of id, or nil. There are few, and this isn't the data path. R1: by its whole name.
func (m *Machine) find(id wire.Instance) *record {
	for i := range m.recs {
		if m.recs[i].id == id {
			return &m.recs[i]
		}
	}
	return nil
}

func (r *record) stateOf() State {
	if r == nil {
		return Absent
	}
	return r.state
}

// State of an instance here.
func (m *Machine) State(id wire.Instance) State { return m.find(id).stateOf() }

// Live says whether id is up or opening here: before LostArrived, Broke or Dropped the engine quiesces those.
func (m *Machine) Live(id wire.Instance) bool {
	s := m.State(id)
	return s == Up || s == Opening
}

// Up lists the instances that are up, in opening order. It is valid until the next call.
func (m *Machine) Up() []wire.Instance {
	m.up = m.up[:0]
	for i := range m.recs {
		if m.recs[i].state == Up {
			m.up = append(m.up, m.recs[i].id)
		}
	}
	return m.up
}

// Records counts the instances that are opening or lost.
func (m *Machine) Records() int {
	n := 0
	for i := range m.recs {
		if m.recs[i].state != Up {
			n++
		}
	}
	return n
}

// Idle says that no instance is opening or lost.
func (m *Machine) Idle() bool { return m.Records() == 0 }

// Dump says who waits for what, one line per instance.
func (m *Machine) Dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d named, peer's mark %d", m.side, m.next, m.seen.high)
	if m.over {
		b.WriteString(", over")
	}
	for i := range m.recs {
		fmt.Fprintf(&b, "\n  %s", m.recs[i].describe())
	}
	return b.String()
}

// Waiting is what is not agreed upon, and who waits for what; nil if all is.
func (m *Machine) Waiting() (list []string) {
	for i := range m.recs {
		if r := &m.recs[i]; r.state != Up && r.state != Absent {
			list = append(list, r.describe())
		}
	}
	return list
}

func (r *record) describe() string {
	via := "marked: to be sent when a lane is up and others have ended"
	if r.carrier != none {
		via = "LOST last sent on " + r.carrier.String()
	}
	switch r.state {
	case Opening:
		return fmt.Sprintf("%s opening: waits for the answer to HELLO, or to be confirmed", r.id)
	case Asking:
		return fmt.Sprintf("%s asking: mine %d, waits for the peer's position; %s", r.id, r.mine, via)
	case Telling:
		return fmt.Sprintf("%s telling: mine %d, peer's %d, waits for GONE; %s", r.id, r.mine, r.theirs, via)
	case Absent, Up, states:
	}
	return fmt.Sprintf("%s %s", r.id, r.state)
}
