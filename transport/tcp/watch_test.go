package tcp

import (
	"testing"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

// TestUnwatched: while an interface is polled the system watches none of its few connections, since being told costs the sender;
// all of them are watched as soon as they are too many to be read each turn.
func TestUnwatched(t *testing.T) {
	f, sinks := crowd(t, directMax)
	readers := func() (n int) {
		for _, ep := range f.eps {
			if ep.poll.interest&poll.Readable != 0 {
				n++
			}
		}
		return n
	}
	check := func(when string, want int) {
		t.Helper()
		if n := readers(); n != want {
			t.Errorf("%s: %d of %d connections are watched, want %d", when, n, len(f.eps), want)
		}
	}
	check("at first", directMax)
	f.Watch(false)
	check("polled", 0)
	f.Watch(true)
	check("watched again", directMax)
	f.Watch(false)
	sinks.dial(t, f)
	check("one more", directMax+1)
	f.eps[0].Close()
	f.Progress()
	check("one less", 0)
}

// crowd is an interface with n connections to another one, which listens.
func crowd(t *testing.T, n int) (*iface, *crowdEnds) {
	t.Helper()
	a, b := newTestIface(t), newTestIface(t)
	e := &crowdEnds{b: b}
	l, err := b.Listen("127.0.0.1:0", e)
	if err != nil {
		t.Fatal(err)
	}
	e.addr = l.Addr()
	for range n {
		e.dial(t, a)
	}
	return a, e
}

type crowdEnds struct {
	b    *iface
	addr string
}

func (e *crowdEnds) Accepted(transport.Endpoint) (transport.Sink, transport.Options) {
	return &party{f: e.b}, transport.Options{}
}

func (e *crowdEnds) dial(t *testing.T, f *iface) {
	t.Helper()
	p := &party{f: f}
	ep, err := f.Dial("", e.addr, transport.Options{}, p)
	if err != nil {
		t.Fatal(err)
	}
	p.ep = ep
	for i := 0; !p.up; i++ {
		if i > 1e6 {
			t.Fatal("no connection")
		}
		f.Progress()
		e.b.Progress()
	}
}
