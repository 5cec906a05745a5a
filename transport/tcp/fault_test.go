package tcp_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// rail is a couple with faults in front of the sockets of one side.
func rail(t *testing.T) (*couple, *fault.Injector) {
	t.Helper()
	inj := fault.New(newEnv().Now)
	t.Cleanup(func() { inj.Close() })
	return newCouple(t, tcp.Options{Wrapper: inj}), inj
}

func readable(fd int, timeoutMS int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, _ := unix.Poll(p, timeoutMS)
	return n > 0
}

// TestCutWakes: a reset wakes up both workers that sleep on their descriptors.
func TestCutWakes(t *testing.T) {
	c, inj := rail(t)
	for range 5 {
		c.turn()
	}
	if readable(c.a.EventFD(), 0) || readable(c.b.EventFD(), 0) {
		t.Fatalf("readable with nothing to do")
	}
	go inj.Cut("127.0.0.1", fault.Reset, time.Minute)
	for _, f := range []transport.Iface{c.a, c.b} {
		if !readable(f.EventFD(), 2000) {
			t.Fatalf("the cut woke nobody up")
		}
		f.Progress()
	}
	if !errors.Is(c.x.err, transport.ErrReset) || !errors.Is(c.y.err, transport.ErrReset) {
		t.Errorf("OnError(%v) and (%v), want ErrReset", c.x.err, c.y.err)
	}
	e := &end{}
	if _, err := c.a.Dial("", "127.0.0.1:1", transport.Options{}, e); err != nil {
		t.Fatal(err)
	}
	until(t, "the refusal", func() { c.a.Progress() }, func() bool { return e.err != nil })
	if !errors.Is(e.err, unix.ECONNREFUSED) {
		t.Errorf("a dial on the rail: %v", e.err)
	}
	if r := inj.Report()[0]; r.Streams != 2 || r.Refused != 1 {
		t.Errorf("report %+v", r)
	}
}

// TestCutInFlight cuts in the middle of a write; nothing is lost or doubled by the position.
func TestCutInFlight(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Reset, fault.Silence} {
		c, inj := rail(t)
		f := &transport.Frame{ID: 1, Payload: make([]byte, 1000), Done: c.x}
		for range 7 {
			c.x.ep.Post(f)
		}
		until(t, "acknowledged", c.turn, func() bool { return c.x.executed == 7 })
		inj.Apply(fault.Rule{Rail: "127.0.0.1", Kind: kind, Start: fault.Write})
		for range 10 {
			c.x.ep.Post(f)
		}
		c.a.Flush()
		for range 20 {
			c.b.Progress()
		}
		c.x.ep.Quiesce()
		c.y.ep.Quiesce()
		p := c.y.ep.Position()
		if kind == fault.Reset && p != 7 { // a reset takes what the peer had not read
			t.Logf("%v: position %d", kind, p)
		}
		handed := 0
		r, err := c.x.ep.PurgeOutstanding(p, func(*transport.Frame) error { handed++; return nil })
		if err != nil || p < 7 || p > 12 || handed != 17-int(p) || r.Handed != handed {
			t.Errorf("%v: position %d, %d handed out, %+v, %v", kind, p, handed, r, err)
		}
		if rep := inj.Report()[0]; rep.At == 0 || rep.Streams != 2 {
			t.Errorf("%v: report %+v", kind, rep)
		}
	}
}

// TestSilenceSleeps: with bytes in the socket that the stream doesn't give, and room that it doesn't take, the worker
// must neither spin nor sleep for ever.
func TestSilenceSleeps(t *testing.T) {
	c, inj := rail(t)
	f := &transport.Frame{ID: 1, Payload: make([]byte, 200_000), Done: c.x}
	inj.Cut("127.0.0.1", fault.Silence, time.Minute)
	for range 5 {
		c.x.ep.Post(f)
		c.y.ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 200_000), Done: c.y})
	}
	for range 10 {
		c.turn()
	}
	for range 20 {
		if c.a.Deadline() == 0 {
			t.Fatalf("the engine would sleep for ever")
		}
		if n := c.a.Progress(); n != 0 {
			t.Errorf("Progress returns %d, nothing happens", n)
		}
		c.a.Flush()
		if readable(c.a.EventFD(), 0) {
			t.Fatalf("the descriptor stays readable: the worker spins")
		}
	}
	e := &end{}
	ep, err := c.a.Dial("", "127.0.0.1:1", transport.Options{}, e)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c.a.Progress()
	}
	if e.up || e.err != nil || readable(c.a.EventFD(), 0) {
		t.Errorf("a dial while silent: up %v, %v", e.up, e.err)
	}
	ep.Close()
	c.x.ep.Close()
	c.y.ep.Close()
}

// TestSilenceHidesClose: the peer of a silent rail doesn't learn that the lane was given up.
func TestSilenceHidesClose(t *testing.T) {
	inj := fault.New(newEnv().Now)
	defer inj.Close()
	env := newEnv()
	a, b := open(t, env, tcp.Options{Wrapper: inj}), open(t, env, tcp.Options{}) // only one side knows
	x, y := &end{}, &end{}
	l, err := b.Listen("127.0.0.1:0", y)
	if err != nil {
		t.Fatal(err)
	}
	if x.ep, err = a.Dial("127.0.0.1", l.Addr(), transport.Options{}, x); err != nil {
		t.Fatal(err)
	}
	turn := func() { a.Progress(); a.Flush(); b.Progress(); b.Flush() }
	until(t, "connection", turn, func() bool { return x.up && y.ep != nil })
	inj.Cut("127.0.0.1", fault.Silence, 0)
	x.ep.Quiesce()
	x.ep.Close()
	for range 50 {
		turn()
	}
	if y.err != nil {
		t.Errorf("the peer learned of it: %v", y.err)
	}
	inj.Heal("")
	until(t, "the peer's notice after the cut", turn, func() bool { return y.err != nil })
}
