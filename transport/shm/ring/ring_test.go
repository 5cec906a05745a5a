package ring_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/transport/shm/ring"
)

var small = ring.Shape{Slots: 8, Data: 4 * ring.Piece}

// aligned is memory that a ring may stand in.
func aligned(n int) []byte {
	b := make([]byte, n+ring.Slot)
	off := int(-uintptr(unsafe.Pointer(&b[0])) % ring.Slot)
	return b[off : off+n : off+n]
}

func pair(t testing.TB, s ring.Shape) (*ring.Writer, *ring.Reader, []byte) {
	t.Helper()
	mem := aligned(s.Size())
	w, err := ring.NewWriter(mem, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ring.NewReader(mem, s)
	if err != nil {
		t.Fatal(err)
	}
	return w, r, mem
}

// fill writes what check expects: bytes that depend on the place and on which piece it is.
func fill(b []byte, piece uint64) {
	for i := 0; i < len(b); i += step(i, len(b)) {
		b[i] = byte(uint64(i)*7 + piece)
	}
}

// step looks at both ends closely, and at little between.
func step(i, n int) int {
	if i < 64 || i >= n-64 {
		return 1
	}
	return min(251, n-64-i)
}

func right(b []byte, piece uint64) bool {
	for i := 0; i < len(b); i += step(i, len(b)) {
		if b[i] != byte(uint64(i)*7+piece) {
			return false
		}
	}
	return true
}

func header(piece uint64, n int) ring.Header {
	return ring.Header{ID: uint8(piece), Flags: uint8(piece >> 3), Head: uint16(piece * 3), Size: uint32(n), Ack: uint32(piece * 5)}
}

func TestShape(t *testing.T) {
	good := ring.Shape{Slots: 8, Data: 4 * ring.Piece}
	for _, s := range []ring.Shape{
		{0, good.Data}, {4, good.Data}, {9, good.Data}, {1 << 21, good.Data}, {-8, good.Data},
		{8, 0}, {8, 3 * ring.Piece}, {8, 4*ring.Piece + 64}, {8, -4 * ring.Piece}, {8, 2 << 30},
	} {
		if s.Check() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	mem := aligned(good.Size() + 1)
	if _, err := ring.NewWriter(mem[:good.Size()-1], good); err == nil {
		t.Error("memory that is too short is taken")
	}
	if _, err := ring.NewReader(mem[1:], good); err == nil {
		t.Error("memory that is not aligned is taken")
	}
}

// TestModel: whatever sizes come, in whatever order both sides work, what was published is read, in order and as it was, nothing else, and
// who reads all lets the writer go on.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := ring.Shape{Slots: 8 << rapid.IntRange(0, 3).Draw(t, "slots"), Data: ring.Piece * rapid.IntRange(4, 7).Draw(t, "data")}
		mem := aligned(shape.Size())
		w, err1 := ring.NewWriter(mem, shape)
		r, err2 := ring.NewReader(mem, shape)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		var sent, got uint64
		var sizes []int
		read := func() bool {
			h, body, ok, err := r.Next()
			if err != nil || ok != (got < sent) || r.Ready() != ok {
				t.Fatalf("piece %d of %d: ok %v, ready %v, %v", got, sent, ok, r.Ready(), err)
			}
			if ok {
				if h != header(got, sizes[got]) || len(body) != min(sizes[got], ring.Piece) || !right(body, got) {
					t.Fatalf("piece %d: %+v, %d bytes", got, h, len(body))
				}
				r.Done()
				got++
			}
			return ok
		}
		size := rapid.OneOf(rapid.IntRange(0, ring.Inline+1), rapid.IntRange(0, 3*ring.Piece), rapid.Just(ring.Piece))
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				n := size.Draw(t, "size")
				b, ok, err := w.Reserve(min(n, ring.Piece))
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if sent == got {
						t.Fatal("no room in a ring of which everything was read")
					}
					return
				}
				fill(b, sent)
				w.Publish(header(sent, n))
				sizes = append(sizes, n)
				sent++
			},
			"forgotten": func(t *rapid.T) {
				if b, _, err := w.Reserve(min(size.Draw(t, "size"), ring.Piece)); err != nil {
					t.Fatal(err)
				} else {
					fill(b, 99)
				}
			},
			"read": func(t *rapid.T) { read() },
			"all": func(t *rapid.T) {
				for read() {
				}
			},
		})
	})
}

// TestDeadWriter: at whatever instruction a writer dies, all that it published can be read, and nothing else.
func TestDeadWriter(t *testing.T) {
	w, _, mem := pair(t, small)
	sizes := []int{0, 8, ring.Inline, ring.Inline + 1, 5000, ring.Piece}
	look := func(published int) {
		t.Helper()
		copied := aligned(len(mem))
		copy(copied, mem)
		r, err := ring.NewReader(copied, small)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			h, body, ok, err := r.Next()
			switch {
			case err != nil:
				t.Fatalf("after %d pieces: %v", published, err)
			case ok != (i < published):
				t.Fatalf("piece %d of %d: %v", i, published, ok)
			case !ok:
				return
			case h != header(uint64(i), sizes[i]) || !right(body, uint64(i)):
				t.Fatalf("piece %d is not as it was", i)
			}
			r.Done()
		}
	}
	for i, n := range sizes {
		b, ok, err := w.Reserve(n)
		if err != nil || !ok {
			t.Fatal(err)
		}
		look(i)
		fill(b[:n/2], uint64(i))
		look(i)
		fill(b, uint64(i))
		look(i)
		w.Publish(header(uint64(i), n))
		look(i + 1)
	}
}

// TestBothAtOnce runs the two ends on two goroutines, also under the race detector.
func TestBothAtOnce(t *testing.T) {
	w, r, _ := pair(t, small)
	const pieces = 4000
	size := func(i uint64) int { return []int{0, 8, 48, 49, 700, 9000}[i*i%6] }
	go func() {
		for i := uint64(0); i < pieces; {
			b, ok, err := w.Reserve(size(i))
			if err != nil {
				t.Error(err)
				return
			}
			if !ok {
				runtime.Gosched()
				continue
			}
			fill(b, i)
			w.Publish(header(i, size(i)))
			i++
		}
	}()
	for i := uint64(0); i < pieces; {
		h, body, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			runtime.Gosched()
			continue
		}
		if h != header(i, size(i)) || !right(body, i) {
			t.Fatalf("piece %d is not as it was", i)
		}
		r.Done()
		i++
	}
}

// TestDoze: nobody who sleeps, and for whom something was published before or after, stays asleep.
func TestDoze(t *testing.T) {
	w, r, _ := pair(t, small)
	const rounds = 4000
	bell := make(chan struct{}, 1)
	go func() {
		for i := uint64(0); i < rounds; {
			_, ok, err := w.Reserve(8)
			if err != nil {
				t.Error(err)
				return
			}
			if !ok {
				runtime.Gosched()
				continue
			}
			w.Publish(header(i, 8))
			i++
			if w.Rouse(ring.ForFrames) {
				bell <- struct{}{}
			}
		}
	}()
	self := r.Self()
	for got := 0; got < rounds; {
		_, _, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			r.Done()
			got++
			continue
		}
		self.Lie(ring.ForFrames)
		if r.Ready() {
			if !self.Rouse(ring.ForFrames) { // it was done already: the bell comes
				<-bell
			}
			continue
		}
		<-bell
	}
	if self.Lie(ring.ForRoom); w.Rouse(ring.ForFrames) || !self.Lying() {
		t.Error("who waits for room is woken for a frame")
	}
	if !w.Rouse(ring.ForRoom|ring.ForFrames) || self.Lying() {
		t.Error("who waits for room is not woken for it")
	}
}

// TestGarbage: each value that stands in shared memory, and that can't be, is found; and nothing else happens.
func TestGarbage(t *testing.T) {
	w, r, mem := pair(t, small)
	publish := func() {
		b, _, _ := w.Reserve(8)
		fill(b, 0)
		w.Publish(ring.Header{ID: 1, Size: 8})
	}
	publish()
	const slots = 256 // the lines before them
	good := binary.LittleEndian.Uint32(mem[slots:])
	for _, bad := range []uint32{2, 9, good - 8 - 1, ^uint32(0)} {
		binary.LittleEndian.PutUint32(mem[slots:], bad)
		if _, _, ok, err := r.Next(); ok || !errors.Is(err, ring.ErrGarbage) {
			t.Errorf("sequence %d in place of %d: %v, %v", bad, good, ok, err)
		}
		if !r.Ready() {
			t.Errorf("sequence %d: nobody would look", bad)
		}
	}
	binary.LittleEndian.PutUint32(mem[slots:], good)
	if _, body, ok, err := r.Next(); !ok || err != nil || !right(body, 0) {
		t.Fatalf("the right one: %v, %v", ok, err)
	}
	r.Done()
	for range small.Slots - 1 {
		publish()
	}
	for _, bad := range []uint64{uint64(small.Slots) + 1, 1 << 63, ^uint64(0)} {
		binary.LittleEndian.PutUint64(mem, bad)
		for range 2 {
			if _, _, err := w.Reserve(ring.Piece); err != nil {
				if !errors.Is(err, ring.ErrGarbage) {
					t.Errorf("%d were read: %v", bad, err)
				}
				break
			}
			publish()
		}
	}
	if _, _, err := w.Reserve(8); !errors.Is(err, ring.ErrGarbage) {
		t.Errorf("more was read than written: %v", err)
	}
}

// FuzzGarbage writes anything anywhere, between any steps of either end: no step panics, and no body reaches out of the memory.
func FuzzGarbage(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Add(bytes.Repeat([]byte{1, 3, 0xff, 2}, 20))
	f.Fuzz(func(t *testing.T, steps []byte) {
		w, r, mem := pair(t, small)
		inside := func(b []byte) {
			if len(b) == 0 {
				return
			}
			off := uintptr(unsafe.Pointer(&b[0])) - uintptr(unsafe.Pointer(&mem[0]))
			if off+uintptr(cap(b)) > uintptr(len(mem)) {
				t.Fatalf("a body of %d bytes at %d of %d", len(b), off, len(mem))
			}
		}
		for len(steps) >= 4 {
			n := int(binary.LittleEndian.Uint16(steps[1:]))
			switch steps[0] % 5 {
			case 0: // the lines and slots, where it matters
				mem[n%(256+small.Slots*ring.Slot)] = steps[3]
			case 1:
				off := n % (256 + small.Slots*ring.Slot) &^ 7
				binary.LittleEndian.PutUint64(mem[off:], uint64(int8(steps[3])))
			case 2:
				if b, ok, err := w.Reserve(n % (ring.Piece + 1)); err == nil && ok {
					inside(b)
					w.Publish(ring.Header{ID: steps[3], Size: uint32(n % (ring.Piece + 1))})
				}
			case 3:
				if h, b, ok, err := r.Next(); err == nil && ok {
					if len(b) != h.Len() || len(b) > ring.Piece {
						t.Fatalf("%+v with %d bytes", h, len(b))
					}
					inside(b)
					r.Done()
				}
			case 4:
				w.Rouse(uint32(steps[3]))
				r.Ready()
			}
			steps = steps[4:]
		}
	})
}

func TestNoAllocation(t *testing.T) {
	w, r, _ := pair(t, small)
	if n := testing.AllocsPerRun(1000, func() {
		_, ok, err := w.Reserve(32)
		if err != nil || !ok {
			t.Fatal("no room")
		}
		w.Publish(ring.Header{ID: 1, Size: 32})
		if _, _, ok, _ := r.Next(); !ok {
			t.Fatal("nothing there")
		}
		r.Done()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPiece(b *testing.B) {
	for _, n := range []int{8, 48, 1000, ring.Piece} {
		b.Run(itoa(n), func(b *testing.B) {
			w, r, _ := pair(b, ring.Shape{Slots: 256, Data: 16 * ring.Piece})
			src := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				p, _, _ := w.Reserve(n)
				copy(p, src)
				w.Publish(ring.Header{ID: 1, Size: uint32(n)})
				_, p, _, _ = r.Next()
				copy(src, p)
				r.Done()
			}
		})
	}
}

func itoa(n int) string {
	if n >= 1024 {
		return itoa(n/1024) + "k"
	}
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
