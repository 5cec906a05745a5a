package tcp

import (
	"testing"
	"time"

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

// TestBlockedUnwatched: a socket that takes no more is watched for room, also while nobody waits for the descriptor.
func TestBlockedUnwatched(t *testing.T) {
	a, b := parties(t)
	ep := a.ep.(*endpoint)
	ep.setWindow(transport.Options{Window: 1 << 30})
	a.f.Watch(false)
	for !ep.out.blocked {
		ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, maxFrame-100), Done: a})
		a.f.Flush()
	}
	wait(t, a, b, "room in the socket", func() bool { return ep.out.empty() })
}

// flood is a stream that always has a frame to read.
type flood struct{ tape }

func (s *flood) Read(p []byte) (int, error) { return copy(p, frameBytes(5, 100, 0)), nil }

type deafSink struct{ witness }

func (deafSink) Frame(*transport.Incoming) {}

// TestBusyAccepts: a lane that always has something keeps nobody out.
func TestBusyAccepts(t *testing.T) {
	env := testEnv()
	var clock time.Duration
	env.Now = func() time.Duration { clock += 50 * time.Microsecond; return clock }
	i, err := New(Options{}).Open(env)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	f := i.(*iface)
	ep := &endpoint{f: f, sink: &deafSink{}, state: up, stream: &flood{}}
	ep.setWindow(transport.Options{})
	ep.Admit(maxFrame, true)
	f.eps = append(f.eps, ep)
	ends := &crowdEnds{b: f}
	l, err := f.Listen("127.0.0.1:0", ends)
	if err != nil {
		t.Fatal(err)
	}
	f.Progress()
	dialer := newTestIface(t)
	if _, err = dialer.Dial("", l.Addr(), transport.Options{}, &party{f: dialer}); err != nil {
		t.Fatal(err)
	}
	for turns := 0; len(f.eps) < 2; turns++ {
		if turns > 10_000 {
			t.Fatal("nobody is let in beside a busy lane")
		}
		f.Progress()
		dialer.Progress()
	}
	ep.stream = nil
}
