package litmus

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/transport/sim"
)

// A state is what each side is by itself, and what is between them. A step of one side, that takes something from a wire or posts
// something, depends on nothing but that side, and changes nothing but it and what is under way: so it need not be run again for each
// state of the others. This is the partial order of steps put to use: of two steps of different sides it does not matter which is
// first, and neither has to be run in both orders. All states are visited; what is saved is to run the engine for each.

// state is one state of a world.
type state struct {
	local [3]uint64 // by side, a hash of all that it is; see kept
	ends  []sim.End
	dues  []sim.Due
	now   time.Duration
	made  uint64
	taken int // words of the program
	cut   int
}

// kept is what must be known of a side besides its hash.
type kept struct {
	ops      []fact       // that it posted
	index    []int        // of these in the program
	done     [room]effect // at the target
	up       []string     // its lanes that are up, by their addresses
	deadline time.Duration

	told uint64 // a hash of ops and done
	bare uint64 // a hash of the engine alone
}

func (s *state) hash() uint64 { return s.number(s.local, s.taken) }

// number is the state's, with these for what its sides are and how many words are posted.
func (s *state) number(local [3]uint64, taken int) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	put := func(ns ...uint64) {
		var b [8]byte
		for _, n := range ns {
			binary.LittleEndian.PutUint64(b[:], n)
			h.Write(b[:])
		}
	}
	put(local[:]...)
	put(uint64(s.now), s.made, uint64(taken), uint64(s.cut), uint64(len(s.ends)))
	for i := range s.ends {
		e := &s.ends[i]
		put(flags(e), uint64(len(e.In)))
		h.WriteString(e.Told)
		put(e.In...)
	}
	for _, d := range s.dues {
		put(uint64(d.At), uint64(d.Kind)<<32|uint64(d.End))
	}
	return h.Sum64()
}

// flags are an end without what is on its way.
func flags(e *sim.End) uint64 {
	n := uint64(e.ID)<<32 | uint64(e.Peer&0xffff)<<16 | uint64(e.Life)<<8
	for i, b := range []bool{e.Deaf, e.Broken, e.Mute} {
		if b {
			n |= 1 << i
		}
	}
	return n
}

// of says whether an end is this side's.
func of(e *sim.End, side int) bool { return int(e.Host[0]-'a') == side }

// end is the one with this number, nil if it is not there.
func (s *state) end(id uint32) *sim.End {
	for i := range s.ends {
		if s.ends[i].ID == id {
			return &s.ends[i]
		}
	}
	return nil
}

func (s *state) clone() *state {
	c := *s
	c.ends = slices.Clone(s.ends)
	return &c
}

// state is that of a world. What is to be kept of its sides goes into know. Sides that made no step are as before, if that is known.
func (w *world) state(know map[uint64]*kept, before *state, only int) *state {
	s := &state{ends: w.net.Ends(), dues: w.net.Dues(), now: w.net.Now(), made: w.net.Made(), taken: w.taken, cut: w.cut}
	for i, side := range w.sides {
		if before != nil && i != only {
			s.local[i] = before.local[i]
			continue
		}
		var bare uint64
		if i == target {
			s.local[i], bare = w.hashOf(side.eng, w.done, w.sum)
		} else {
			s.local[i], bare = w.hashOf(side.eng, side.ops, side.fences)
		}
		if know[s.local[i]] == nil {
			know[s.local[i]] = w.keep(i, bare)
		}
	}
	return s
}

func (w *world) keep(i int, bare uint64) *kept {
	k := &kept{deadline: w.sides[i].eng.Deadline(), bare: bare}
	for _, o := range w.sides[i].ops {
		k.ops, k.index = append(k.ops, o.fact), append(k.index, o.at)
	}
	if i == target {
		k.done = w.done
	}
	for e, ep := range w.eps {
		if w.owner[e] != i {
			continue
		}
		for _, l := range ep.Lanes() {
			if l.State == lane.Up {
				k.up = append(k.up, l.Local)
			}
		}
	}
	k.told, _ = w.hashOf(k.ops, k.done)
	return k
}

// change is what a step of one side does.
type change struct {
	local  uint64
	own    []sim.End // its ends that are left, as they are then, without what is on its way to them
	gone   []uint32  // and those that are not
	sent   []parcel
	hung   []uint32 // the other ends of those on which it hung up
	added  []sim.Due
	events []happening
}

// parcel is what was sent to one end.
type parcel struct {
	to uint32
	in []uint64
}

// differ is what one side did from s to t.
func differ(s, t *state, side int) *change {
	c := &change{local: t.local[side]}
	for _, e := range s.ends {
		after := t.end(e.ID)
		switch {
		case of(&e, side):
			if after == nil {
				c.gone = append(c.gone, e.ID)
			} else {
				own := *after
				own.In = nil
				c.own = append(c.own, own)
			}
			if e.Life < sim.EndQuiesced && (after == nil || after.Life >= sim.EndQuiesced) && !e.Mute && e.Peer != 0 {
				c.hung = append(c.hung, e.Peer)
			}
		case after != nil && len(after.In) > len(e.In):
			c.sent = append(c.sent, parcel{e.ID, after.In[len(e.In):]})
		}
	}
	for _, d := range t.dues {
		if e := t.end(d.End); !slices.Contains(s.dues, d) && e != nil && of(e, side) {
			c.added = append(c.added, d)
		}
	}
	return c
}

// apply is s after a change by one side, that took the oldest thing from the wire of one of its ends, if from is not 0.
func (c *change) apply(s *state, side int, from uint32) *state {
	t := s.clone()
	t.local[side] = c.local
	for _, own := range c.own {
		e := t.end(own.ID)
		in := e.In
		if own.ID == from {
			in = in[1:]
		}
		*e = own
		e.In = in
	}
	for _, p := range c.sent {
		if e := t.end(p.to); e != nil {
			e.In = append(e.In[:len(e.In):len(e.In)], p.in...)
		}
	}
	for _, id := range c.hung {
		t.tell(id, sim.ToldHungUp)
	}
	if len(c.gone) > 0 {
		t.bury(c.gone)
	}
	t.due(c.added)
	return t
}

// tell is the news for an end, which the first news keeps out.
func (s *state) tell(id uint32, news string) {
	if e := s.end(id); e != nil && e.Life == sim.EndUp && e.Told == "" {
		e.Told = news
	}
}

// bury takes away ends that are closed.
func (s *state) bury(gone []uint32) {
	left := s.ends[:0]
	for _, e := range s.ends {
		if slices.Contains(gone, e.ID) {
			continue
		}
		if slices.Contains(gone, e.Peer) {
			e.Broken = true
		}
		left = append(left, e)
	}
	s.ends = left
	var dues []sim.Due
	for _, d := range s.dues {
		if !slices.Contains(gone, d.End) {
			dues = append(dues, d)
		}
	}
	s.dues = dues
}

// due adds times.
func (s *state) due(added []sim.Due) {
	if len(added) == 0 {
		return
	}
	ds := append(slices.Clone(s.dues), added...)
	slices.SortFunc(ds, sim.Due.Compare)
	s.dues = slices.Compact(ds)
}

// cutOff is s after a connection was cut, or one direction of it.
func (s *state) cutOff(st step, silent bool) *state {
	t := s.clone()
	t.cut++
	for i := range t.ends {
		if e := &t.ends[i]; e.Local == st.cut {
			both := []uint32{e.ID, e.Peer}
			for k, id := range both {
				if e := t.end(id); e != nil && st.dir != [...]sim.Dir{sim.In, sim.Out}[k] {
					e.Broken, e.Mute = true, e.Mute || silent
				}
			}
			for _, id := range both {
				if !silent {
					t.tell(id, sim.ToldCut)
				}
			}
			return t
		}
	}
	panic("no such lane")
}
