package tcp

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

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

// TestCongestion: connections within a host aren't paced by a default that is made for networks; a program can choose; a name that
// doesn't exist is said at once.
func TestCongestion(t *testing.T) {
	of := func(f *iface) string {
		name, err := unix.GetsockoptString(f.eps[0].stream.FD(), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimRight(name, "\x00")
	}
	f, _ := crowd(t, 1)
	if got := of(f); got != withinHost {
		t.Errorf("within a host: %q, want %q", got, withinHost)
	}
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"127.0.0.1:1", "127.0.0.1:2", true}, {"10.0.0.1:1", "10.0.0.1:2", true}, {"[::1]:1", "[::1]:2", true},
		{"10.0.0.1:1", "10.0.0.2:2", false}, {"", "10.0.0.2:2", false}, {"10.0.0.1", "10.0.0.1:2", false},
	} {
		if got := oneHost(c.local, c.remote); got != c.want {
			t.Errorf("oneHost(%q, %q) = %v", c.local, c.remote, got)
		}
	}
	if _, err := New(Options{Congestion: "hope"}).Open(testEnv()); err == nil || !strings.Contains(err.Error(), `"hope"`) {
		t.Errorf("a congestion control that does not exist: %v", err)
	}
	g := openWith(t, Options{Congestion: "reno"})
	e := &crowdEnds{b: g}
	l, err := g.Listen("127.0.0.1:0", e)
	if err != nil {
		t.Fatal(err)
	}
	e.addr = l.Addr()
	e.dial(t, g)
	if got := of(g); got != "reno" {
		t.Errorf("asked for reno: %q", got)
	}
}
