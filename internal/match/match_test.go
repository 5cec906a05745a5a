package match

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is the same as naively as it can be: two lists, looked through from the front.
type model struct {
	posted []posted
	waits  []arrival
}

type posted struct {
	want Want
	id   int
	node *Node[int]
}

type arrival struct {
	tag  uint64
	from any
	id   int
	node *Node[int]
}

func (m *model) arrive(tag uint64, from any) int {
	i := slices.IndexFunc(m.posted, func(p posted) bool { return p.want.Takes(tag, from) })
	if i < 0 {
		return 0
	}
	id := m.posted[i].id
	m.posted = slices.Delete(m.posted, i, i+1)
	return id
}

func (m *model) find(w Want) int {
	return slices.IndexFunc(m.waits, func(a arrival) bool { return w.Takes(a.tag, a.from) })
}

// pair is a table and its model.
type pair struct {
	table Table[int, int]
	m     model
	last  int
	tags  *rapid.Generator[uint64]
	from  *rapid.Generator[any]
}

func (p *pair) want(t *rapid.T) Want {
	w := Want{Tag: p.tags.Draw(t, "tag"), Mask: rapid.SampledFrom([]uint64{All, All, All, 0, 1, 1 << 32, All - 1}).Draw(t, "mask")}
	if rapid.Bool().Draw(t, "from one") {
		w.From = p.from.Draw(t, "from")
	}
	return w
}

func (p *pair) receive(t *rapid.T, w Want) {
	p.last++
	n, i := p.table.Find(w), p.m.find(w)
	if (n == nil) != (i < 0) || n != nil && n.Value != p.m.waits[i].id {
		t.Fatalf("%+v finds %v, not %d", w, n, i)
	}
	if n == nil {
		p.m.posted = append(p.m.posted, posted{w, p.last, p.table.Post(w, p.last)})
		return
	}
	if a := p.m.waits[i]; n.Tag() != a.tag || n.From() != a.from || p.table.Take(n) != a.id {
		t.Fatalf("%+v takes another one than %+v", w, a)
	}
	p.m.waits = slices.Delete(p.m.waits, i, i+1)
}

func (p *pair) send(t *rapid.T, tag uint64, from any) {
	p.last++
	got, ok := p.table.Arrive(tag, from)
	if id := p.m.arrive(tag, from); got != id || ok != (id != 0) {
		t.Fatalf("%d from %v goes to %d, not to %d", tag, from, got, id)
	}
	if !ok {
		p.m.waits = append(p.m.waits, arrival{tag, from, p.last, p.table.Wait(tag, from, p.last)})
	}
}

func (p *pair) cancel(t *rapid.T) {
	if len(p.m.posted) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.m.posted)-1).Draw(t, "which")
	p.table.Cancel(p.m.posted[i].node)
	p.m.posted = slices.Delete(p.m.posted, i, i+1)
}

func (p *pair) withdraw(t *rapid.T) {
	if len(p.m.waits) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.m.waits)-1).Draw(t, "which")
	if id := p.table.Take(p.m.waits[i].node); id != p.m.waits[i].id {
		t.Fatalf("%d was taken, not %d", id, p.m.waits[i].id)
	}
	p.m.waits = slices.Delete(p.m.waits, i, i+1)
}

// gone: who waits for one sender alone is told that he is gone.
func (p *pair) gone(t *rapid.T) {
	who := p.from.Draw(t, "from")
	var ended, should []int
	p.table.CancelAll(func(w Want) bool { return w.From == who }, func(id int, _ Want) { ended = append(ended, id) }) // oldest first
	p.m.posted = slices.DeleteFunc(p.m.posted, func(o posted) bool {
		if o.want.From == who {
			should = append(should, o.id)
		}
		return o.want.From == who
	})
	if !slices.Equal(ended, should) {
		t.Fatalf("%v ended, not %v", ended, should)
	}
}

func (p *pair) check(t *rapid.T) {
	if p.table.Posted() != len(p.m.posted) || p.table.Waiting() != len(p.m.waits) {
		t.Fatalf("%d posted and %d waiting, not %d and %d", p.table.Posted(), p.table.Waiting(), len(p.m.posted), len(p.m.waits))
	}
	n, of := p.table.Oldest(), map[any]*Node[int]{}
	for _, a := range p.m.waits {
		if n == nil || n.Value != a.id {
			t.Fatalf("%v stands where %d should", n, a.id)
		}
		n = n.Next()
		m := of[a.from]
		if m == nil {
			m = p.table.OldestOf(a.from)
		} else {
			m = m.NextOf()
		}
		if m == nil || m.Value != a.id {
			t.Fatalf("of %v, %v stands where %d should", a.from, m, a.id)
		}
		of[a.from] = m
	}
	for from, m := range of {
		if m.NextOf() != nil {
			t.Fatalf("of %v, something stands behind the last", from)
		}
	}
	used := map[any]bool{}
	for _, a := range p.m.waits {
		used[a.from] = true
	}
	for _, o := range p.m.posted {
		if o.want.From != nil {
			used[o.want.From] = true
		}
	}
	if known := len(p.table.senders.all); known > len(used)+1 { // who was asked for last stays
		t.Fatalf("%d senders are known, of %d there is something", known, len(used))
	}
}

// TestModel: whatever is posted, arrives and is taken back, in whatever order, it is as if two lists were looked through.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pair{tags: rapid.SampledFrom([]uint64{0, 1, 2, 3, 1 << 32, 1<<32 | 1, 1 << 63, All}), from: rapid.SampledFrom([]any{"a", "b", "c", "d"})}
		if rapid.Bool().Draw(t, "many tags") {
			p.tags = rapid.Uint64Range(0, 400)
		}
		t.Repeat(map[string]func(*rapid.T){
			"receive": func(t *rapid.T) { p.receive(t, p.want(t)) },
			"receives": func(t *rapid.T) {
				w := p.want(t)
				for range 40 {
					p.receive(t, w)
					w.Tag++
				}
			},
			"send": func(t *rapid.T) { p.send(t, p.tags.Draw(t, "tag"), p.from.Draw(t, "from")) },
			"sends": func(t *rapid.T) {
				for i, tag := uint64(0), p.tags.Draw(t, "tag"); i < 40; i++ {
					p.send(t, tag+i, "a")
				}
			},
			"cancel":   p.cancel,
			"withdraw": p.withdraw,
			"gone":     p.gone,
			"":         p.check,
		})
	})
}

// TestNothingAllocated: in the steady state there are nodes for all.
func TestNothingAllocated(t *testing.T) {
	var table Table[int, int]
	from := any(&table)
	whos := []any{from, &table.posts, &table.waits}
	round := func() {
		for i := range uint64(100) {
			who := whos[i%3]
			table.Wait(i, who, 1)
			table.Post(Want{Tag: 2000 + i, Mask: All, From: who}, 1)
			table.Post(Want{Tag: 2000 + i, Mask: 0xffff, From: who}, 1)
			table.Post(Want{Tag: 1000 + i, Mask: All}, 1)
			table.Post(Want{Tag: 1000 + i, Mask: 0xffff}, 1)
		}
		for i := range uint64(100) {
			table.Take(table.Find(Want{Tag: i, Mask: All}))
			table.Arrive(1000+i, from)
			table.Arrive(1000+i, from)
			who := whos[i%3]
			table.Arrive(2000+i, who)
			table.Arrive(2000+i, who)
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 || table.Posted()+table.Waiting() != 0 {
		t.Errorf("%v allocations in a round, %d left", n, table.Posted()+table.Waiting())
	}
}

// BenchmarkMatch: one message of one sender comes and is received, with so many of others waiting.
func BenchmarkMatch(b *testing.B) {
	me, other := any(new(int)), any(new(int))
	for _, waiting := range []int{0, 1000, 100000} {
		for _, c := range []struct {
			name string
			tag  uint64 // of those that wait; 0: another one each
			want Want
		}{{"tag", 0, Want{Mask: All}}, {"sender", 0, Want{From: me}}, {"both", 0, Want{Mask: All, From: me}}, {"both/sametag", 7, Want{Tag: 7, Mask: All, From: me}}} {
			b.Run(fmt.Sprintf("%s/behind%d", c.name, waiting), func(b *testing.B) {
				b.ReportAllocs()
				var table Table[int, int]
				for i := range uint64(waiting) {
					if c.tag > 0 {
						i = c.tag
					} else {
						i++
					}
					table.Wait(i, other, 0)
				}
				for b.Loop() {
					table.Wait(c.want.Tag, me, 0)
					table.Take(table.Find(c.want))
				}
			})
		}
	}
}
