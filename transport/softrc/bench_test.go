//go:build linux

package softrc_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/softrc"
)

// end is a sink and completer without books.
type end struct {
	ep       transport.Endpoint
	up       bool
	got      int
	gotBytes int
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
func (e *end) Frame(in *transport.Incoming) {
	e.got++
	e.gotBytes += len(in.Payload)
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

// couple is two interfaces, one connection, one goroutine.
type couple struct {
	testing.TB
	a, b transport.Iface
	x, y *end
	idle int // turns in which nothing happened
}

func newCouple(t testing.TB, o softrc.Options) *couple {
	t.Helper()
	start := time.Now()
	now := func() time.Duration { return time.Since(start) + 1 }
	c := &couple{TB: t, a: open(t, now, o, 1), b: open(t, now, o, 2), x: &end{}, y: &end{}}
	t.Cleanup(func() {
		_ = c.a.Close()
		_ = c.b.Close()
	})
	l, err := c.b.Listen("127.0.0.1:0", c.y)
	if err != nil {
		t.Fatal(err)
	}
	if c.x.ep, err = c.a.Dial("", l.Addr(), transport.Options{}, c.x); err != nil {
		t.Fatal(err)
	}
	for !c.x.up || c.y.ep == nil {
		c.turn()
	}
	c.x.ep.Admit(c.a.Attr().MaxFrame, true)
	c.y.ep.Admit(c.a.Attr().MaxFrame, true)
	return c
}

func (c *couple) turn() {
	n := c.a.Progress()
	c.a.Flush()
	n += c.b.Progress()
	c.b.Flush()
	if c.idle++; n > 0 {
		c.idle = 0
	} else if c.idle > 5_000_000 { // some seconds
		c.Fatalf("nothing happens any more: one side has posted, taken, seen executed: %+v, the other: %+v", *c.x, *c.y)
	}
}

// post posts until there is room, turning meanwhile.
func (c *couple) post(f *transport.Frame) {
	for {
		if st := c.x.ep.Post(f); st != transport.NoResource {
			return
		}
		c.turn()
	}
}

// BenchmarkPost8 is the rate of small frames: 64 are posted, then both sides have a turn.
func BenchmarkPost8(b *testing.B) {
	c := newCouple(b, softrc.Options{})
	f := &transport.Frame{ID: 1, Head: make([]byte, 8), Payload: make([]byte, 8), Done: c.x}
	b.ReportAllocs()
	for i := range b.N {
		c.post(f)
		if i%64 == 63 {
			c.turn()
		}
	}
	for c.x.executed < b.N {
		c.turn()
	}
}

// BenchmarkPingPong8 is one round trip: two writes, two reads.
func BenchmarkPingPong8(b *testing.B) {
	c := newCouple(b, softrc.Options{})
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	c.y.reply = &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.y}
	b.ReportAllocs()
	for range b.N {
		want := c.x.got + 1
		c.x.ep.Post(f)
		c.a.Flush()
		for c.x.got < want {
			c.b.Progress()
			c.b.Flush()
			c.a.Progress()
		}
	}
}

// benchmarkLarge is a stream of large frames, that are read by the peer or sent in segments.
func benchmarkLarge(b *testing.B, size int, place bool) {
	for _, way := range []struct {
		name string
		from int
	}{{"read", 1 << 10}, {"sent", 0}} {
		b.Run(way.name, func(b *testing.B) { large(b, softrc.Options{RC: rc.Options{ReadFrom: way.from}}, size, place) })
	}
}

func large(b *testing.B, o softrc.Options, size int, place bool) {
	c := newCouple(b, o)
	if place {
		c.y.place = make([]byte, size)
	}
	f := &transport.Frame{ID: 1, Head: make([]byte, 16), Payload: make([]byte, size), Done: c.x}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for range b.N {
		c.post(f)
		c.turn()
	}
	for c.x.executed < b.N {
		c.turn()
	}
}

func BenchmarkLarge64K(b *testing.B)   { benchmarkLarge(b, 64<<10, false) }
func BenchmarkPlaced64K(b *testing.B)  { benchmarkLarge(b, 64<<10, true) }
func BenchmarkPlaced256K(b *testing.B) { benchmarkLarge(b, 256<<10, true) }
func BenchmarkLarge1M(b *testing.B)    { benchmarkLarge(b, 1<<20, false) }
