package ring_test

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/openbraid/braid/transport/shm/ring"
)

// TestSmall: a piece that stands in its slot is written in one step as in three, whatever came before, and not where there is no room.
func TestSmall(t *testing.T) {
	one, r1, mem1 := pair(t, small)
	three, r3, mem3 := pair(t, small)
	for i := range uint64(100) {
		n := int(i*11) % (ring.Inline + 1)
		if i%5 == 4 { // larger ones between them move where data stands
			n = ring.Inline + 1 + int(i)*300
		}
		body := make([]byte, n)
		fill(body, i)
		dst, ok, err := three.Reserve(n)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		copy(dst, body)
		three.Publish(header(i, n))
		if n > ring.Inline {
			dst, _, _ := one.Reserve(n)
			copy(dst, body)
			one.Publish(header(i, n))
		} else if !one.Small(header(i, n), body) {
			one.Reserve(0) // looks
			if !one.Small(header(i, n), body) {
				t.Fatalf("piece %d: no room", i)
			}
		}
		for _, r := range []*ring.Reader{r1, r3} {
			r.Ahead()
			h, got, ok, err := r.Next()
			if !ok || err != nil || h != header(i, n) || !bytes.Equal(got, body) {
				t.Fatalf("piece %d: %+v, %v, %v", i, h, ok, err)
			}
			r.Done()
		}
		if !bytes.Equal(mem1, mem3) {
			t.Fatalf("piece %d, %d bytes: the memory differs", i, n)
		}
	}
	for i := range small.Slots {
		if !one.Small(header(uint64(i), 8), make([]byte, 8)) {
			one.Reserve(0)
			if !one.Small(header(uint64(i), 8), make([]byte, 8)) {
				t.Fatalf("no room after %d slots of %d", i, small.Slots)
			}
		}
	}
	before := bytes.Clone(mem1)
	if one.Small(header(99, 8), []byte("overrun!")) || !bytes.Equal(before, mem1) {
		t.Error("a slot was written that the reader has not given back")
	}
}

// hops has two threads answer each other n times.
func hops(b *testing.B, ping, pong func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		for range b.N {
			pong()
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range b.N {
		ping()
	}
	<-done
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/hop")
}

// BenchmarkHop is a message of 8 bytes from one thread to another and back: through two rings, and by a bare line, which no ring goes below.
func BenchmarkHop(b *testing.B) {
	b.Run("line", func(b *testing.B) {
		word := (*atomic.Uint64)(unsafe.Pointer(&aligned(ring.Slot)[0]))
		turn := func(from uint64) func() {
			return func() {
				for word.Load() != from {
				}
				word.Store(from + 1)
				from += 2
			}
		}
		hops(b, turn(0), turn(1))
	})
	for _, ahead := range []string{"ring", "ahead"} {
		b.Run(ahead, func(b *testing.B) {
			s := ring.Shape{Slots: 256, Data: 4 * ring.Piece}
			there, arrives, _ := pair(b, s)
			back, returns, _ := pair(b, s)
			body := make([]byte, 8)
			send := func(w *ring.Writer) {
				for !w.Small(ring.Header{ID: 1, Size: 8}, body) {
					w.Reserve(0)
				}
			}
			take := func(r *ring.Reader) {
				for {
					_, _, ok, _ := r.Next()
					if ok {
						break
					}
				}
				if ahead == "ahead" {
					r.Ahead()
				}
				r.Done()
				r.Ready()
			}
			hops(b, func() { send(there); take(returns) }, func() { take(arrives); send(back) })
		})
	}
}
