package books_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/rdma/verbs/books"
)

// posted is one request in a list that is kept beside the books.
type posted struct {
	number uint32
	id     uint64
	keys   []uint32
	object any
	marker bool
}

// beside are the books and the list.
type beside struct {
	q             *books.Queue
	depth, pieces int
	list, over    []posted
	id            uint64
}

// TestBooks holds the books beside a list: of what is posted, in order.
func TestBooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &beside{depth: rapid.IntRange(1, 9).Draw(t, "depth"), pieces: rapid.IntRange(0, 3).Draw(t, "pieces")}
		b.q = books.New(b.depth, b.pieces)
		t.Repeat(map[string]func(*rapid.T){"": b.same, "put": b.put, "take back": b.takeBack, "done": b.done, "late": b.late, "clear": b.clear})
	})
}

func (b *beside) same(t *rapid.T) {
	marked := false
	for _, p := range b.list {
		marked = marked || p.marker
	}
	if b.q.Len() != len(b.list) || b.q.Room() != max(0, b.depth-len(b.list)) || b.q.Marked() != marked {
		t.Fatalf("%d posted, room for %d, marked %v; want %d of %d, %v", b.q.Len(), b.q.Room(), b.q.Marked(), len(b.list), b.depth, marked)
	}
	for key := range uint32(4) {
		names, holds := false, false
		for _, p := range b.list {
			names = names || slices.Contains(p.keys, key)
			holds = holds || p.object == any(key)
		}
		if b.q.Names(key) != names || b.q.Holds(key) != holds {
			t.Fatalf("key %d: %v, object %v; want %v, %v", key, b.q.Names(key), b.q.Holds(key), names, holds)
		}
	}
}

func (b *beside) put(t *rapid.T) {
	marker := len(b.list) > 0 && !b.q.Marked() && rapid.IntRange(0, 5).Draw(t, "marker") == 0
	if b.q.Room() == 0 && !marker {
		t.Skip("full")
	}
	p := posted{id: b.id, marker: marker}
	b.id++
	if rapid.Bool().Draw(t, "names an object") {
		p.object = rapid.Uint32Range(0, 3).Draw(t, "object")
	}
	p.number = b.q.Put(books.Entry{ID: p.id, Object: p.object, Addr: p.id * 7, Marker: marker})
	for range rapid.IntRange(0, max(1, b.pieces)).Draw(t, "keys") {
		k := rapid.Uint32Range(0, 3).Draw(t, "key")
		b.q.Key(k)
		p.keys = append(p.keys, k)
	}
	if b.q.Last() != p.object || len(p.keys) > 0 && b.q.First(p.number) != p.keys[0] {
		t.Fatalf("the last one names %v and begins with %d: %+v", b.q.Last(), b.q.First(p.number), p)
	}
	b.list = append(b.list, p)
}

func (b *beside) takeBack(t *rapid.T) {
	n := rapid.IntRange(0, len(b.list)).Draw(t, "how many")
	b.q.TakeBack(n)
	b.list = b.list[:len(b.list)-n]
}

func (b *beside) done(t *rapid.T) {
	if len(b.list) == 0 {
		t.Skip("nothing is posted")
	}
	i := rapid.IntRange(0, len(b.list)-1).Draw(t, "which")
	p := b.list[i]
	if e, ok := b.q.Done(p.number); !ok || e.ID != p.id || e.Addr != p.id*7 || e.Object != p.object || e.Marker != p.marker {
		t.Fatalf("%v %+v, want %+v", ok, e, p)
	}
	b.over = append(b.over, b.list[:i+1]...)
	b.list = b.list[i+1:]
}

// late: what is over, or was given back, is nobody's.
func (b *beside) late(t *rapid.T) {
	for _, p := range b.over {
		if slices.ContainsFunc(b.list, func(o posted) bool { return o.number == p.number }) {
			continue // taken back, its number was given again
		}
		if _, ok := b.q.Done(p.number); ok {
			t.Fatalf("%d ended twice", p.number)
		}
	}
	b.over = nil
}

func (b *beside) clear(*rapid.T) {
	b.q.Clear()
	b.over = append(b.over, b.list...)
	b.list = nil
}

// TestWrap: numbers have 31 bits.
func TestWrap(t *testing.T) {
	q := books.At(1<<31-2, 3, 1)
	numbers := []uint32{q.Put(books.Entry{ID: 1}), q.Put(books.Entry{ID: 2}), q.Put(books.Entry{ID: 3})}
	if numbers[0] != 1<<31-2 || numbers[1] != 1<<31-1 || numbers[2] != 0 {
		t.Fatal(numbers)
	}
	if e, ok := q.Done(numbers[1]); !ok || e.ID != 2 || q.Len() != 1 {
		t.Errorf("%+v %v, %d are left", e, ok, q.Len())
	}
	if e, ok := q.Done(numbers[2]); !ok || e.ID != 3 || q.Len() != 0 {
		t.Errorf("%+v %v, %d are left", e, ok, q.Len())
	}
	if _, ok := q.Done(numbers[0]); ok {
		t.Error("the first ended twice")
	}
}
