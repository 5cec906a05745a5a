package self_test

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

// end is a sink and completer without books.
type end struct {
	ep       transport.Endpoint
	up       bool
	got      int
	executed int
	place    []byte
	err      error
	reply    *transport.Frame
}

func (e *end) Connected() { e.up = true }
func (e *end) Place(_ uint8, _ []byte, size int) []byte {
	if size <= len(e.place) {
		return e.place[:size]
	}
	return nil
}
func (e *end) Frame(*transport.Incoming) {
	e.got++
	if e.reply != nil {
		e.ep.Post(e.reply)
	}
}
func (e *end) Room()                                {}
func (e *end) OnError(err error) transport.Decision { e.err = err; return transport.Complete }
func (e *end) Sent(uint64)                          {}
func (e *end) Executed(uint64, error)               { e.executed++ }
func (e *end) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	e.ep = ep
	return e, transport.Options{}
}

// couple is one interface and one connection in it.
type couple struct {
	transport.Iface
	x, y *end
}

func newCouple(t testing.TB) *couple {
	t.Helper()
	c := &couple{Iface: open(t), x: &end{}, y: &end{}}
	l, err := c.Listen("self:0", c.y)
	if err != nil {
		t.Fatal(err)
	}
	if c.x.ep, err = c.Dial("", l.Addr(), transport.Options{}, c.x); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Progress()
	}
	if !c.x.up || c.y.ep == nil {
		t.Fatalf("no connection after three turns: %v", c.x.err)
	}
	c.x.ep.Admit(c.Attr().MaxFrame, true)
	c.y.ep.Admit(c.Attr().MaxFrame, true)
	return c
}

// BenchmarkFrame8 is one frame after the other: Post, Flush, Progress, until it is executed.
func BenchmarkFrame8(b *testing.B) {
	c := newCouple(b)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	b.ReportAllocs()
	for b.Loop() {
		c.x.ep.Post(f)
		c.Flush()
		c.Progress()
	}
	if c.x.executed != c.y.got {
		b.Fatalf("%d executed of %d", c.x.executed, c.y.got)
	}
}

// BenchmarkPost8 is the rate of small frames: 64 are posted, then there is a turn.
func BenchmarkPost8(b *testing.B) {
	c := newCouple(b)
	f := &transport.Frame{ID: 1, Head: make([]byte, 8), Payload: make([]byte, 8), Done: c.x}
	b.ReportAllocs()
	for i := range b.N {
		c.x.ep.Post(f)
		if i%64 == 63 {
			c.Flush()
			c.Progress()
		}
	}
	c.Progress()
	if c.x.executed != b.N {
		b.Fatalf("%d executed of %d", c.x.executed, b.N)
	}
}

// BenchmarkPingPong8 is one round trip.
func BenchmarkPingPong8(b *testing.B) {
	c := newCouple(b)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	c.y.reply = &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.y}
	b.ReportAllocs()
	for b.Loop() {
		want := c.x.got + 1
		c.x.ep.Post(f)
		c.Flush()
		for c.x.got < want {
			c.Progress()
			c.Flush()
		}
	}
}

// BenchmarkIdleToBusy is a frame for somebody who sleeps: the descriptor is written and read.
func BenchmarkIdleToBusy(b *testing.B) {
	c := newCouple(b)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	b.ReportAllocs()
	for b.Loop() {
		c.x.ep.Post(f)
		c.Flush()
		c.Progress()
		c.Deadline()
	}
}

// BenchmarkIdle is a turn that finds nothing.
func BenchmarkIdle(b *testing.B) {
	c := newCouple(b)
	for b.Loop() {
		c.Progress()
		c.Flush()
	}
}

func benchmarkLarge(b *testing.B, size int, zero, place bool) {
	c := newCouple(b)
	if place {
		c.y.place = make([]byte, size)
	}
	f := &transport.Frame{ID: 1, Head: make([]byte, 16), Payload: make([]byte, size), ZeroCopy: zero, Done: c.x}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		c.x.ep.Post(f)
		c.Progress()
	}
}

func BenchmarkCopy1K(b *testing.B)    { benchmarkLarge(b, 1<<10, false, false) }
func BenchmarkPlaced1K(b *testing.B)  { benchmarkLarge(b, 1<<10, true, true) }
func BenchmarkCopy4K(b *testing.B)    { benchmarkLarge(b, 4<<10, false, false) }
func BenchmarkZero4K(b *testing.B)    { benchmarkLarge(b, 4<<10, true, false) }
func BenchmarkPlaced4K(b *testing.B)  { benchmarkLarge(b, 4<<10, true, true) }
func BenchmarkCopy64K(b *testing.B)   { benchmarkLarge(b, 64<<10, false, false) }
func BenchmarkZero64K(b *testing.B)   { benchmarkLarge(b, 64<<10, true, false) }
func BenchmarkPlaced64K(b *testing.B) { benchmarkLarge(b, 64<<10, true, true) }
func BenchmarkCopy1M(b *testing.B)    { benchmarkLarge(b, 1<<20, false, false) }
func BenchmarkPlaced1M(b *testing.B)  { benchmarkLarge(b, 1<<20, true, true) }
