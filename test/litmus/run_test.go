package litmus

import (
	"fmt"

	"github.com/openbraid/braid/transport/sim"
)

// driven is the world that makes the steps that are not known, and how far it is.
type driven struct {
	world  *world
	path   []step
	keeper *keeper

	ran, taken, whole int // steps that the engine made, steps, and those that were not of one side
}

// run lets the engine make the last step of path, which follows s and is one of this side, or of all. nil: it broke a rule of the network.
func (x *explorer) run(s *state, path []step, side int) *state {
	last := len(path) - 1
	x.goTo(s, path[:last])
	x.world.effects = nil
	x.world.take(path[last])
	x.ran++
	x.path = append(x.path, path[last])
	if v := x.world.net.Violations(); len(v) > 0 {
		x.violate(path, v)
		return nil
	}
	if side == anySide {
		s = nil
	}
	return x.world.state(x.know, s, side)
}

// faraway is a way in steps from which on it is worth to note where one is.
const faraway = 12

// goTo makes x.world be where path leads, which is s.
func (x *explorer) goTo(s *state, path []step) {
	same := 0
	for same < min(len(path), len(x.path)) && x.path[same] == path[same] {
		same++
	}
	switch {
	case x.plain:
		same = 0
		x.world, x.path = newWorld(x.program, x.hasher), nil
	case same < len(x.path):
		same = x.keeper.back(same)
		x.path = x.path[:same]
	}
	for _, st := range path[same:] {
		x.world.take(st)
		x.path = append(x.path, st)
		x.ran++
	}
	far := len(path) - same
	if x.ran%4 == 0 || x.plain {
		if t := x.world.state(x.know, nil, 0); t.hash() != s.hash() { // most of these steps were not run one after the other before
			panic(fmt.Sprintf("%s over %d lanes: the sides are not apart\n%s%+v\n%+v", x.words, x.lanes, x.tell(path), s, t))
		}
	}
	if far >= faraway && !x.plain { // who comes from here once more need not go all this way
		x.keeper.note(x.world, len(path))
	}
}

// take makes a step.
func (w *world) take(st step) {
	switch st.do {
	case doPost:
		w.post()
	case doArrive, doTell:
		for _, a := range w.net.Arrivals() {
			if a.End == st.end && a.Error == (st.do == doTell) {
				w.let(a)
				return
			}
		}
		panic("it can't arrive")
	case doCut:
		w.cut++
		kind := sim.Reset
		if w.silent() {
			kind = sim.Silence
		}
		w.net.BreakLocal(st.cut, kind, st.dir)
	case doTime:
		w.passTime()
	}
}
