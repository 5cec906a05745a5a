package order

import (
	"testing"

	"pgregory.net/rapid"
)

// item is something at a place, as the model has it.
type item struct {
	epoch uint64
	at    *Place
	fence int // fences before it, of the endpoint and of the worker together
}

// model is a list of what is unexecuted, and of flushes with what each still waits for.
type model struct {
	Fences
	b      *Book
	places []*Place
	items  []*item
	fences int
	flush  map[uint64]map[*item]bool
}

func newModel() *model {
	m := &model{flush: map[uint64]map[*item]bool{}}
	m.b = New(&m.Fences)
	m.places = []*Place{&m.b.Off}
	return m
}

func (m *model) lane(inOrder bool) {
	p := &Place{InOrder: inOrder}
	m.places = append(m.places, p)
	m.b.Open(p)
}

func (m *model) leave(i int) {
	x := m.items[i]
	x.at.Leave(x.epoch)
	m.items = append(m.items[:i:i], m.items[i+1:]...)
	for _, left := range m.flush {
		delete(left, x)
	}
}

// may is R12 by counting operations.
func (m *model) may(fence int, p *Place) bool {
	for _, x := range m.items {
		if x.fence < fence && (x.at != p || !p.InOrder || p == &m.b.Off) {
			return false
		}
	}
	return true
}

func (m *model) check(t *rapid.T) {
	if int(m.b.Left()) != len(m.items) {
		t.Fatalf("left %d, %d items", m.b.Left(), len(m.items))
	}
	for e, left := range m.flush {
		if done := m.b.Done(e); done != (len(left) == 0) {
			t.Fatalf("flush of epoch %d done=%v, %d left", e, done, len(left))
		}
	}
	for _, p := range m.places {
		barrier := m.b.Barrier()
		if got, want := barrier == 0 || m.b.MayPost(barrier, p), m.may(m.fences, p); got != want {
			t.Fatalf("new at a place: MayPost %v, should be %v", got, want)
		}
		for _, x := range m.items {
			barrier := m.b.BarrierOf(x.epoch)
			if got, want := barrier == 0 || m.b.MayPost(barrier, p), m.may(x.fence, p); got != want {
				t.Fatalf("epoch %d at a place: MayPost %v, should be %v", x.epoch, got, want)
			}
		}
	}
}

func TestBookAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel()
		m.lane(true)
		m.lane(true)
		any := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		t.Repeat(map[string]func(*rapid.T){
			"issue": func(*rapid.T) {
				p := m.places[any(len(m.places))]
				m.b.Barrier()
				m.items = append(m.items, &item{m.b.Issue(p), p, m.fences})
			},
			"leave": func(*rapid.T) {
				if len(m.items) > 0 {
					m.leave(any(len(m.items)))
				}
			},
			"move": func(*rapid.T) {
				if len(m.items) == 0 {
					return
				}
				x, to := m.items[any(len(m.items))], m.places[any(len(m.places))]
				to.Enter(x.epoch)
				x.at.Leave(x.epoch)
				x.at = to
			},
			"cut": func(t *rapid.T) {
				e, nothing := m.b.Cut()
				if nothing != (len(m.items) == 0) {
					t.Fatalf("nothing = %v with %d items", nothing, len(m.items))
				}
				if nothing {
					return
				}
				left := map[*item]bool{}
				for _, x := range m.items {
					left[x] = true
				}
				m.flush[e] = left
			},
			"fence":        func(*rapid.T) { m.b.Fence(); m.fences++ },
			"worker fence": func(*rapid.T) { m.Fence(); m.fences++ },
			"lane":         func(*rapid.T) { m.lane(any(2) == 0) },
			"lane ends": func(*rapid.T) {
				if i := any(len(m.places)); i > 0 && m.places[i].Len() == 0 {
					m.b.Shut(m.places[i])
					m.places = append(m.places[:i:i], m.places[i+1:]...)
				}
			},
			"": m.check,
		})
	})
}

func TestLeaveTwicePanics(t *testing.T) {
	b := New(&Fences{})
	e := b.Issue(&b.Off)
	b.Off.Leave(e)
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	b.Off.Leave(e)
}

// A million fences and cuts make no epochs without work between them, and those of work that is executed are given back.
func TestMemoryIsBounded(t *testing.T) {
	var w Fences
	b, p := New(&w), &Place{InOrder: true}
	b.Open(p)
	b.Issue(p)
	for range 1_000_000 {
		b.Fence()
		w.Fence()
		b.Barrier()
		b.Cut()
	}
	if cap(p.tallies) > 8 || cap(b.fences) > 8 || b.cur > 3 {
		t.Fatalf("%d counts, %d fences, epoch %d after a million fences without work", cap(p.tallies), cap(b.fences), b.cur)
	}
	const window = 1000 // operations that are not executed at a time
	open := []uint64{1}
	for range 1_000_000 {
		if len(open) == window {
			p.Leave(open[0])
			open = open[1:]
		}
		b.Fence()
		open = append(open, b.Issue(p))
	}
	if cap(p.tallies) > 4*window || cap(b.fences) > 8*window {
		t.Fatalf("%d counts, %d fences with %d epochs alive", cap(p.tallies), cap(b.fences), window)
	}
}

// What one operation holds up does not grow while others come and go behind it, between fences, and in epochs of flushes.
func TestMemoryBehindOneThatWaits(t *testing.T) {
	for name, apart := range map[string]func(b *Book){"fences": (*Book).Fence, "flushes": func(b *Book) { b.Cut() }} {
		t.Run(name, func(t *testing.T) {
			b := New(&Fences{})
			b.Issue(&b.Off)
			var open []uint64
			for i := range 1_000_000 {
				apart(b)
				open = append(open, b.Issue(&b.Off))
				if len(open) == 100 {
					b.Off.Leave(open[i%100]) // in any order
					open = append(open[:i%100], open[i%100+1:]...)
				}
			}
			if b.Off.First() != 1 || cap(b.Off.tallies) > 1000 || cap(b.fences) > 1000 {
				t.Fatalf("%d tallies, %d fences with 100 epochs alive", cap(b.Off.tallies), cap(b.fences))
			}
		})
	}
}

func TestNoAllocations(t *testing.T) {
	b, p := New(&Fences{}), &Place{InOrder: true}
	b.Open(p)
	open := []uint64{}
	for range 64 {
		open = append(open, b.Issue(p))
	}
	step := func() {
		b.Fence()
		b.Cut()
		if !b.MayPost(b.Barrier(), p) {
			t.Fatal("may not post behind what is on the same lane")
		}
		p.Leave(open[0])
		copy(open, open[1:])
		open[63] = b.Issue(p)
	}
	for range 1000 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
