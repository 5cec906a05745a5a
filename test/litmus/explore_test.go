package litmus

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"strings"
	"time"

	"github.com/openbraid/braid/transport/sim"
)

// patience is how long, in virtual time, a program may take.
const patience = 20 * time.Second

// step is one thing that can happen.
type step struct {
	do  doing
	end uint32  // at which something arrives
	cut string  // the lane, by the address of its end
	dir sim.Dir // what of it, as seen from there
}

type doing uint8

const (
	doPost doing = iota
	doArrive
	doTell
	doCut
	doTime
)

// explorer visits all states of programs, depth first. What it knows of sides is the same for all programs over so many lanes.
type explorer struct {
	program
	plan  []posting
	know  map[uint64]*kept
	steps map[uint64]*change // of one side: by what the side is and what it takes

	paths      map[uint64]float64 // to the ends, by state; -1: being visited
	drained    map[uint64]bool
	first      int // lanes at the beginning
	violations []string

	plain bool // the engine makes each step, in a world built anew: what the rest must come to, too
	most  int  // violations until it gives up

	*hasher
	driven
}

func newExplorer() *explorer {
	return &explorer{know: map[uint64]*kept{}, steps: map[uint64]*change{}, drained: map[uint64]bool{}, hasher: newHasher(), most: 3}
}

// explore visits all states of p and returns the number of paths.
func (x *explorer) explore(p program) float64 {
	x.program, x.paths, x.violations = p, map[uint64]float64{}, nil
	x.plan, _, _ = p.plan()
	x.world, x.path, x.keeper = newWorld(p, x.hasher), nil, newKeeper()
	x.keeper.note(x.world, 0)
	s := x.world.state(x.know, nil, 0)
	x.first = x.lanesUp(s)
	return x.visit(s, nil)
}

// visit explores what can follow s, which is where path leads.
func (x *explorer) visit(s *state, path []step) float64 {
	h := s.hash()
	if n, ok := x.paths[h]; ok {
		if n < 0 {
			x.violate(path, []string{"a circle: it could go on for ever"})
		}
		return n
	}
	x.paths[h] = -1
	steps := x.possible(s)
	n := 0.0
	if len(steps) == 0 {
		x.finish(s, path)
		n = 1
	}
	for _, st := range steps {
		if len(x.violations) >= x.most {
			break
		}
		next := append(path, st)
		if t := x.take(s, st, next); t != nil {
			n += x.visit(t, next)
		} else {
			n++
		}
	}
	x.paths[h] = n
	return n
}

// possible are all steps that can follow, in a fixed order.
func (x *explorer) possible(s *state) (all []step) {
	if s.taken == len(x.plan) && x.story(s).left() == "" {
		return nil // what is still on its way arrives in one order: see finish
	}
	if s.taken < len(x.plan) {
		all = append(all, step{do: doPost})
	}
	all = append(all, arrivals(s)...)
	all = append(all, x.breaks(s)...)
	if len(all) == 0 && s.now < patience {
		all = append(all, step{do: doTime})
	}
	return all
}

// breaks are the lanes that can be cut: all, in each state, also before the first word and when all is over.
func (x *explorer) breaks(s *state) (all []step) {
	if s.cut >= x.cuts {
		return nil
	}
	for _, l := range s.local {
		if k := x.know[l]; k != nil {
			for _, lane := range k.up {
				if x.kind == oneWay {
					all = append(all, step{do: doCut, cut: lane, dir: sim.Out}, step{do: doCut, cut: lane, dir: sim.In})
					continue
				}
				all = append(all, step{do: doCut, cut: lane})
			}
		}
	}
	return all
}

// arrivals are what can arrive.
func arrivals(s *state) (all []step) {
	for i := range s.ends {
		e := &s.ends[i]
		if e.Life < sim.EndUp || e.Life > sim.EndQuiesced {
			continue
		}
		if len(e.In) > 0 && !e.Deaf {
			all = append(all, step{do: doArrive, end: e.ID})
		}
		if e.Life == sim.EndUp && (e.Told == sim.ToldCut || e.Told == sim.ToldHungUp) {
			all = append(all, step{do: doTell, end: e.ID})
		}
	}
	return all
}

// take is the state after a step, the last one of path; nil if that broke a rule.
func (x *explorer) take(s *state, st step, path []step) *state {
	x.taken++
	var t *state
	var events []happening
	switch st.do {
	case doCut:
		t = s.cutOff(st, x.silent())
	case doTime:
		t = x.wait(s, path)
	case doPost, doArrive, doTell:
		t, events = x.oneSide(s, st, path)
	}
	if t == nil {
		return nil
	}
	if fails := x.check(s, t, events); fails != nil {
		x.violate(path, fails)
		return nil
	}
	return t
}

// wait is the state after some time: each side by itself does what it is time for.
func (x *explorer) wait(s *state, path []step) *state {
	t, alone := x.later(s)
	if t == nil {
		x.violate(path, []string{"nothing can happen any more: " + x.story(s).left()})
		return nil
	}
	keys := make([]uint64, len(s.local))
	for i, l := range s.local {
		if l != 0 {
			keys[i] = t.key(i, onlyTime)
			alone = alone && x.steps[keys[i]] != nil
		}
	}
	if alone && !x.plain {
		for i, k := range keys {
			if k != 0 {
				t = x.steps[k].apply(t, i, 0)
			}
		}
		return t
	}
	after := x.run(s, path, anySide)
	if after == nil {
		return nil
	}
	cs, u := map[uint64]*change{}, t
	for i, k := range keys {
		if k != 0 {
			cs[k] = differ(t, after, i)
			u = cs[k].apply(u, i, 0)
		}
	}
	if u.hash() != after.hash() {
		x.whole++ // as when a dial arrives
		return after
	}
	maps.Copy(x.steps, cs)
	return after
}

// anySide is for steps of all of them.
const anySide = -1

// onlyTime is what a side takes that has to do with nothing but the time.
const onlyTime = 1

// later is s at the next time at which something happens, before anybody did anything; alone: that is for each side to see, and for
// nothing between them.
func (x *explorer) later(s *state) (t *state, alone bool) {
	t = s.clone()
	var timers []sim.Due
	for _, l := range s.local {
		if k := x.know[l]; k != nil && k.deadline > s.now {
			timers = append(timers, sim.Due{At: k.deadline, Kind: sim.DueCall})
		}
	}
	if t.due(timers); len(t.dues) == 0 {
		return nil, false
	}
	t.now = t.dues[0].At
	alone = true
	for len(t.dues) > 0 && t.dues[0].At == t.now {
		d := t.dues[0]
		e := t.end(d.End)
		alone = alone && (d.Kind == sim.DueCall || d.Kind == sim.DueWake && e != nil && e.Life >= sim.EndUp)
		t.dues = t.dues[1:]
	}
	return t, alone
}

// oneSide is a step of one side, that need not be run if that side has made it before.
func (x *explorer) oneSide(s *state, st step, path []step) (*state, []happening) {
	side, input := x.taker(s, st)
	from := uint32(0)
	if st.do == doArrive {
		from = st.end
	}
	key := s.key(side, input)
	c := x.steps[key]
	if c != nil && !x.plain {
		t := c.apply(s, side, from)
		if st.do == doPost {
			t.taken++
		}
		return t, c.events
	}
	t := x.run(s, path, side)
	if t == nil {
		return nil, nil
	}
	c = differ(s, t, side)
	c.events = x.world.effects
	u := c.apply(s, side, from)
	if u.taken = t.taken; u.hash() == t.hash() {
		x.steps[key] = c
	} else {
		x.whole++ // more than its own
	}
	return t, c.events
}

// key is all that decides what a step of a side does.
func (s *state) key(side int, input uint64) uint64 {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, 256), s.local[side])
	b = binary.LittleEndian.AppendUint64(b, input)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.now))
	for i := range s.ends {
		if e := &s.ends[i]; of(e, side) {
			b = binary.LittleEndian.AppendUint64(b, flags(e))
			b = append(b, e.Told...)
		}
	}
	return maphash.Bytes(seed, b)
}

// taker is the side that makes a step, and what it takes.
func (x *explorer) taker(s *state, st step) (side int, input uint64) {
	switch st.do {
	case doPost:
		p := x.plan[s.taken]
		return p.side, maphash.String(seed, p.word) + uint64(p.ep)
	case doArrive, doTell:
		e := s.end(st.end)
		input = uint64(e.ID)<<8 | uint64(st.do)
		if st.do == doArrive {
			input ^= e.In[0]
		}
		return int(e.Host[0] - 'a'), input
	case doCut, doTime: // not of one side
	}
	return anySide, 0
}

// story is what is known of all operations in a state.
func (x *explorer) story(s *state) *story {
	y := &story{done: x.know[s.local[target]].done}
	for i, l := range s.local {
		k := x.know[l]
		if i == target || k == nil {
			continue
		}
		for n, o := range k.ops {
			for len(y.ops) <= k.index[n] {
				y.ops = append(y.ops, fact{})
			}
			y.ops[k.index[n]] = o
		}
	}
	return y
}

// check looks at all that happened between two states.
func (x *explorer) check(s, t *state, events []happening) []string {
	if len(events) == 0 && x.told(s) == x.told(t) {
		return nil
	}
	y, after := x.story(s), x.story(t)
	for i, o := range after.ops {
		if i >= len(y.ops) {
			y.ops = append(y.ops, o)
			y.ops[i].end = open
		}
	}
	for _, h := range events {
		y.happen(h)
	}
	for i, o := range after.ops {
		if was := y.ops[i].end; was != o.end {
			y.ops[i] = o
			y.end(i)
		}
	}
	return y.fails
}

// told are hashes of what the checks know of each side.
func (x *explorer) told(s *state) (told [3]uint64) {
	for i, l := range s.local {
		if k := x.know[l]; k != nil {
			told[i] = k.told
		}
	}
	return told
}

// bare is the number of a state in which nothing is left to be reported: of engines and wires.
func (x *explorer) bare(s *state) uint64 {
	if x.plain {
		return s.hash()
	}
	local := s.local
	for i, l := range local {
		if k := x.know[l]; k != nil {
			local[i] = k.bare
		}
	}
	return s.number(local, x.cuts)
}

// finish looks at what still arrives, in one order, when everything is executed and reported, until lanes are as they were: nothing may
// be executed once more, also if a lane is cut on the way.
func (x *explorer) finish(s *state, path []step) {
	if left := x.story(s).left(); left != "" {
		x.violate(path, []string{"nothing can happen any more: " + left})
		return
	}
	for idle := 0; s != nil && idle < 20; {
		h := x.bare(s) + uint64(idle)
		if x.drained[h] {
			return
		}
		x.drained[h] = true
		for _, cut := range x.breaks(s) {
			next := append(path, cut)
			if t := x.take(s, cut, next); t != nil {
				x.finish(t, next)
			}
		}
		st := step{do: doTime}
		if as := arrivals(s); len(as) > 0 {
			st = as[0]
		} else if idle++; idle > 1 && x.lanesUp(s) == x.first {
			return
		}
		path = append(path, st)
		s = x.take(s, st, path)
	}
}

// lanesUp is the number of lanes that are up.
func (x *explorer) lanesUp(s *state) (n int) {
	for _, l := range s.local {
		if k := x.know[l]; k != nil {
			n += len(k.up)
		}
	}
	return n
}

func (x *explorer) violate(path []step, fails []string) {
	x.violations = append(x.violations, fmt.Sprintf("%s over %d lanes: %s\n%s", x.words, x.lanes, strings.Join(fails, "; "), x.tell(path)))
}

// tell is a path for people.
func (x *explorer) tell(path []step) string {
	var b strings.Builder
	w := newWorld(x.program, x.hasher)
	for _, st := range path {
		switch st.do {
		case doPost:
			fmt.Fprintf(&b, "   post %s\n", w.plan[w.taken].word)
		case doArrive, doTell:
			for _, e := range w.net.Ends() {
				if e.ID == st.end {
					fmt.Fprintf(&b, "   arrives at %s, error %v\n", e.Local, st.do == doTell)
				}
			}
		case doCut:
			fmt.Fprintf(&b, "   cut %s%s\n", st.cut, [...]string{"", ", what it sends", ", what it gets"}[st.dir])
		case doTime:
			fmt.Fprintf(&b, "   time passes\n")
		}
		w.take(st)
	}
	return b.String()
}
