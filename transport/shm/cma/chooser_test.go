package cma

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// world carries frames one behind the other, and says of each how long it takes.
type world struct {
	b     Book
	at    time.Duration
	read  time.Duration // for a frame
	copy  time.Duration
	index uint64
	queue []time.Duration // of those under way
	reads int
	kind  Kind
}

func (w *world) now() time.Duration { return w.at }

// run sends frames with so many under way.
func (w *world) run(frames, window, size int) {
	w.reads = 0
	for range frames {
		took := w.copy
		if w.b.Begin(w.index, size, w.kind, w.now) {
			w.b.Offered(w.index)
			took = w.read
			w.reads++
		}
		w.index++
		if w.queue = append(w.queue, took); len(w.queue) >= window {
			w.at += w.queue[0]
			w.queue = w.queue[1:]
			w.b.Acked(w.index-uint64(len(w.queue)), w.now)
		}
	}
}

// TestChooses: whichever way is sooner done is taken soon, whatever is under way, and the other one is tried ever more rarely.
func TestChooses(t *testing.T) {
	for _, window := range []int{1, 16, 128} {
		w := &world{read: 20, copy: 10}
		w.b.Open(Measured)
		if w.run(40_000, window, 64<<10); w.reads > 400 || w.reads == 0 {
			t.Errorf("%d under way: of 40,000 frames %d were read, which takes twice as long", window, w.reads)
		}
		w.read, w.copy = 10, 20
		if w.run(20_000, window, 64<<10); w.reads < 10_000 {
			t.Errorf("%d under way: of 20,000 frames %d were read, which takes half as long now", window, w.reads)
		}
		if w.run(40_000, window, 64<<10); w.reads < 39_000 {
			t.Errorf("%d under way: of 40,000 frames %d were read, which takes half as long", window, w.reads)
		}
		w.read, w.copy = 21, 20
		if w.run(20_000, window, 64<<10); w.reads < 19_000 {
			t.Errorf("%d under way: it changes for a twentieth: %d", window, w.reads)
		}
	}
}

// TestMapped: what is mapped is read from the start, and copied if that is sooner done.
func TestMapped(t *testing.T) {
	w := &world{read: 10, copy: 20, kind: Mapped}
	if w.run(40_000, 16, 64<<10); w.reads < 39_000 {
		t.Errorf("of 40,000 frames %d were read, which takes half as long", w.reads)
	}
	w.read, w.copy = 20, 10
	if w.run(20_000, 16, 64<<10); w.reads > 10_000 {
		t.Errorf("of 20,000 frames %d were read, which takes twice as long now", w.reads)
	}
}

// TestForced: who says always or never is not asked for the time.
func TestForced(t *testing.T) {
	var b Book
	if b.Open(Never); b.IsOpen() {
		t.Error("never is open")
	}
	b.Open(Always)
	for i := range uint64(100) {
		if !b.Begin(i, 1<<20, Foreign, nil) {
			t.Fatal("not always")
		}
		b.Offered(i)
		b.Acked(i, nil)
	}
}

// TestBook: what is offered and not acknowledged is what was begun, put into the ring, and not acknowledged.
func TestBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type frame struct{ index, slot uint64 }
		var b Book
		var model []frame
		var index, acked, slot uint64
		at := time.Duration(0)
		now := func() time.Duration { at++; return at }
		b.Open(Measured)
		b.choosers[Foreign].other = true
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				if rapid.Bool().Draw(t, "large") {
					read := b.Begin(index, 1<<16, Foreign, now)
					if b.Begin(index, 1<<16, Foreign, now) != read {
						t.Fatal("asked again, it says something else")
					}
					if slot++; read {
						b.Offered(slot)
						model = append(model, frame{index, slot})
					}
				}
				index++
			case 2:
				acked = rapid.Uint64Range(acked, index).Draw(t, "acked")
				b.Acked(acked, now)
				model = slices.DeleteFunc(model, func(f frame) bool { return f.index < acked })
			}
			var got []frame
			for index, slot := range b.Offers {
				got = append(got, frame{index, slot})
			}
			if !slices.Equal(got, model) {
				t.Fatalf("offers %v, want %v", got, model)
			}
			if first, ok := b.First(); ok != (len(model) > 0) || ok && first != model[0].index {
				t.Fatalf("first %d, %v of %v", first, ok, model)
			}
		}
		if b.Close(); b.IsOpen() || !b.Closed() {
			t.Fatal("closed")
		}
	})
}
