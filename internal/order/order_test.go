package order

import (
	"testing"

	"pgregory.net/rapid"
)

// The model is a list of operations with their epochs, and flushes that remember which were open.
func TestBookAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Book
		var open []uint64
		type flush struct {
			epoch uint64
			left  map[int]bool
		}
		ids, next := []int{}, 0
		var flushes []*flush
		t.Repeat(map[string]func(*rapid.T){
			"issue": func(*rapid.T) {
				open, ids = append(open, b.Issue()), append(ids, next)
				next++
			},
			"retire": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "i")
				b.Retire(open[i])
				for _, f := range flushes {
					delete(f.left, ids[i])
				}
				open, ids = append(open[:i:i], open[i+1:]...), append(ids[:i:i], ids[i+1:]...)
			},
			"cut": func(t *rapid.T) {
				e, nothing := b.Cut()
				if nothing != (len(open) == 0) {
					t.Fatalf("nothing = %v with %d open", nothing, len(open))
				}
				f := &flush{epoch: e, left: map[int]bool{}}
				for _, id := range ids {
					f.left[id] = true
				}
				if !nothing {
					flushes = append(flushes, f)
				}
			},
			"": func(t *rapid.T) {
				if int(b.Unexecuted()) != len(open) {
					t.Fatalf("unexecuted %d, open %d", b.Unexecuted(), len(open))
				}
				for _, f := range flushes {
					if done := b.Done(f.epoch); done != (len(f.left) == 0) {
						t.Fatalf("flush of epoch %d done=%v, %d left", f.epoch, done, len(f.left))
					}
				}
				if len(b.counts) > 2*(next+8) {
					t.Fatalf("ring of %d", len(b.counts))
				}
			},
		})
	})
}

func TestRetireTwicePanics(t *testing.T) {
	var b Book
	e := b.Issue()
	b.Retire(e)
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	b.Retire(e)
}

func TestCutsWithoutOperationsDoNotGrow(t *testing.T) {
	var b Book
	b.Issue()
	for range 1_000_000 {
		b.Cut()
	}
	if len(b.counts) > 8 {
		t.Fatalf("ring of %d after a million cuts", len(b.counts))
	}
}

func TestBookDoesNotAllocate(t *testing.T) {
	var b Book
	b.Issue()
	if n := testing.AllocsPerRun(1000, func() { e := b.Issue(); b.Cut(); b.Retire(e) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
