package litmus

import (
	"encoding/binary"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/memory"
)

// checks installs what looks at each effect at the target.
func (w *world) checks() {
	w.region = w.mem[1].Add(memory.Aligned(slotSize * 8))
	w.region.Watch = func(offset uint64, src []byte) {
		i := int(offset) / slotSize
		if len(src) == 0 {
			return // the last frame of a put with a signal
		}
		if i >= len(w.ops) || w.ops[i].size == 0 {
			w.failf("a write at %d that nobody issued", offset)
			return
		}
		o := w.ops[i]
		if o.wrote += len(src); o.wrote > o.size {
			w.failf("%s, operation %d, is written twice", o.word, i)
		}
		w.ordered(i)
	}
	w.words = w.mem[1].Add(memory.Aligned(64))
	w.words.Watch = func(offset uint64, src []byte) {
		i := int(offset) / 8
		o := w.ops[i]
		o.signaled++
		if v := binary.LittleEndian.Uint64(src); v != 1 || o.signaled > 1 {
			w.failf("%s, operation %d: its counter becomes %d", o.word, i, v)
		}
		if o.wrote != o.size {
			w.failf("%s, operation %d: its signal is there, and %d of %d bytes are", o.word, i, o.wrote, o.size)
		}
		w.ordered(i)
	}
	w.eng[1].Calls().Watch = func(m *delivery.Message) {
		i := int(binary.LittleEndian.Uint32(m.Header))
		o := w.ops[i]
		if o.accepted++; o.accepted > 1 {
			w.failf("%s, operation %d, is accepted twice", o.word, i)
		}
		for k, p := range w.ops[:i] {
			if p.ep == o.ep && (p.word[0] == 'M' || p.word[0] == 'L') && p.accepted == 0 {
				w.failf("message %d before message %d", i, k)
			}
		}
		w.ordered(i)
	}
	w.eng[1].Handle(1, func(*delivery.Message) {})
}

// ordered looks whether all from before the fence is done, now that operation i has an effect.
func (w *world) ordered(i int) {
	o := w.ops[i]
	for k, p := range w.ops[:i] {
		if p.ep == o.ep && p.fence < o.fence && p.word[0] != 'F' && !p.whole() && !(p.r != nil && p.r.Reported) {
			w.failf("%s, operation %d, has an effect before %s, operation %d, which is before the fence", o.word, i, p.word, k)
		}
	}
}

// end is the user's end of an operation.
func (w *world) end(o *op, err error) {
	o.ended, o.err = true, err
	if err != nil {
		w.failf("%s: %v", o.word, err)
		return
	}
	switch o.word[0] {
	case 'F':
		for i, p := range w.ops {
			if p == o {
				break
			}
			if p.ep == o.ep && p.word[0] != 'F' && !p.whole() {
				w.failf("a flush ended, and %s, operation %d, is not executed", p.word, i)
			}
		}
	case 'G':
		w.read(o)
	}
}

// read looks whether a get saw what the fences between it and the put of its word allow.
func (w *world) read(g *op) {
	new := g.got[0] == byte(g.slot+1)
	switch {
	case !new && g.got[0] != 0:
		w.failf("a get read %d", g.got[0])
	case g.slot >= len(w.ops):
		if new {
			w.failf("a get read what is not posted")
		}
	case w.ops[g.slot].ep == g.ep && w.ops[g.slot].fence < g.fence && !new:
		w.failf("a get does not see the put before the fence")
	}
}

// finished looks at everything at the end of a path.
func (w *world) finished() {
	if s := w.left(); s != "" {
		w.failf("nothing can happen any more: %s", s)
		return
	}
	for as := w.net.Arrivals(); len(as) > 0 && len(w.fails) == 0; as = w.net.Arrivals() {
		w.let(as[0]) // nothing may be executed once more
	}
	for i := 0; i < 20 && len(w.net.Arrivals()) == 0; i++ {
		w.passTime()
	}
	for as := w.net.Arrivals(); len(as) > 0 && len(w.fails) == 0; as = w.net.Arrivals() {
		w.let(as[len(as)-1])
	}
	for i, o := range w.ops {
		if o.word[0] == 'G' && o.slot > i && o.got[0] != 0 && w.ops[o.slot].fence > o.fence {
			w.failf("a get saw what was put behind the fence")
		}
	}
	for _, v := range w.net.Violations() {
		w.failf("the network: %s", v)
	}
}

// step is one thing that can happen.
type step struct {
	do     byte // post, arrive, cut, time
	number int
}

const (
	doPost byte = iota
	doArrive
	doCut
	doTime
)

// steps are all that can happen now, in a fixed order.
func (w *world) steps() (all []step) {
	if w.left() == "" {
		return nil // what is still on its way arrives in one order: see finished
	}
	if len(w.todo) > 0 {
		all = append(all, step{doPost, 0})
	}
	for i := range w.net.Arrivals() {
		all = append(all, step{doArrive, i})
	}
	if w.cut < w.cuts && len(w.ops) > 0 {
		for i, l := range w.eps[0].Lanes() {
			if l.State == 1 {
				all = append(all, step{doCut, i})
			}
		}
	}
	if len(all) == 0 && w.net.Now() < patience {
		all = append(all, step{doTime, 0})
	}
	return all
}

// take makes a step.
func (w *world) take(s step) {
	switch s.do {
	case doPost:
		w.post()
	case doArrive:
		w.let(w.net.Arrivals()[s.number])
	case doCut:
		w.cut++
		w.net.BreakLocal(w.eps[0].Lanes()[s.number].Local, w.kind)
	case doTime:
		if !w.passTime() {
			w.failf("time stands still")
		}
	}
}
