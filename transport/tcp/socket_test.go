package tcp_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// until turns until cond holds.
func until(t testing.TB, what string, turn func(), cond func() bool) {
	t.Helper()
	for start := time.Now(); !cond(); turn() {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("gave up: %s", what)
		}
	}
}

// chopper makes every read and write as short as it can be, and refuses some.
type chopper struct{ rng *rand.Rand }

type chopped struct {
	transport.Stream
	rng *rand.Rand
}

func (c chopper) Wrap(s transport.Stream, _, _ string) transport.Stream {
	return &chopped{Stream: s, rng: c.rng}
}

func (c *chopped) Read(p []byte) (int, error) {
	if c.rng.IntN(8) == 0 {
		return 0, transport.ErrAgain
	}
	return c.Stream.Read(p[:min(len(p), c.some())])
}

func (c *chopped) Writev(p [][]byte) (int, error) {
	if c.rng.IntN(8) == 0 {
		return 0, transport.ErrAgain
	}
	left, out := c.some(), [][]byte(nil)
	for _, b := range p {
		b = b[:min(len(b), left)]
		left -= len(b)
		out = append(out, b)
	}
	return c.Stream.Writev(out)
}

func (c *chopped) some() int {
	return 1 + c.rng.IntN([]int{3, 700, 20_000, 60_000, 60_000}[c.rng.IntN(5)])
}

// recorder takes frames and compares them with what was posted.
type recorder struct {
	end
	t       *testing.T
	seed    uint64
	control int
	data    int
	placed  int
}

// bodyOf is the payload of frame n of a class.
func bodyOf(c transport.Class, n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(c)))
	b := make([]byte, []int{0, 5, 100, 3000, 40_000, 200_000}[rng.IntN(3+rng.IntN(4))])
	if c == transport.Control {
		b = b[:min(len(b), 300)]
	}
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	return b
}

func (r *recorder) Place(_ uint8, _ []byte, size int) []byte {
	if r.placed++; r.placed%3 == 0 {
		return nil
	}
	return make([]byte, size)
}

func (r *recorder) Frame(in *transport.Incoming) {
	n := &r.data
	if in.Class == transport.Control {
		n = &r.control
	}
	if want := bodyOf(in.Class, *n); !bytes.Equal(want, in.Payload) || string(in.Head) != fmt.Sprint(*n) {
		r.t.Fatalf("seed %d: frame %d of class %d: head %q, %d bytes, want %d", r.seed, *n, in.Class, in.Head, len(in.Payload), len(want))
	}
	*n++
}

func (r *recorder) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	r.ep = ep
	return r, transport.Options{}
}

// TestChopped has every frame, acknowledgement and control frame cut at every place.
func TestChopped(t *testing.T) {
	for seed := range tcp.Seeds(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		env := newEnv()
		o := tcp.Options{Wrapper: chopper{rng}}
		a, b := open(t, env, o), open(t, env, o)
		x, y := &recorder{t: t, seed: seed}, &recorder{t: t, seed: seed}
		l, err := b.Listen("127.0.0.1:0", y)
		if err != nil {
			t.Fatal(err)
		}
		x.ep, err = a.Dial("", l.Addr(), transport.Options{Window: 500_000}, x)
		if err != nil {
			t.Fatal(err)
		}
		turn := func() { a.Progress(); a.Flush(); b.Progress(); b.Flush() }
		until(t, "connection", turn, func() bool { return x.up && y.ep != nil })
		retain := seed%3 > 0
		x.ep.Admit(a.Attr().MaxFrame, retain)
		y.ep.Admit(b.Attr().MaxFrame, retain)
		posted := [2]struct{ data, control int }{}
		post := func(side int, r *recorder, class transport.Class, n *int) {
			f := &transport.Frame{ID: 1, Class: class, Head: fmt.Append(nil, *n), Payload: bodyOf(class, *n), ZeroCopy: rng.IntN(2) == 0, AckNow: rng.IntN(9) == 0}
			if class == transport.Data {
				f.Done = r
			}
			if st := r.ep.Post(f); st == transport.Done || st == transport.Pending {
				*n++
			}
		}
		for range 300 {
			for side, r := range []*recorder{x, y} {
				switch rng.IntN(5) {
				case 0:
					post(side, r, transport.Control, &posted[side].control)
				case 1:
					r.ep.RequestAck()
				default:
					post(side, r, transport.Data, &posted[side].data)
				}
			}
			if rng.IntN(3) == 0 {
				turn()
			}
		}
		until(t, fmt.Sprintf("seed %d: everything acknowledged", seed), turn, func() bool {
			return x.executed == posted[0].data && y.executed == posted[1].data &&
				y.control == posted[0].control && x.control == posted[1].control
		})
		if y.data != posted[0].data || x.err != nil || y.err != nil {
			t.Errorf("seed %d: %d of %d taken; %v, %v", seed, y.data, posted[0].data, x.err, y.err)
		}
		a.Close()
		b.Close()
	}
}

// hub accepts any number of connections and answers each data frame.
type hub struct {
	ends []*end
	max  int
}

func (h *hub) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	e := &end{ep: ep}
	e.reply = &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: e}
	ep.Admit(h.max, true)
	h.ends = append(h.ends, e)
	return e, transport.Options{}
}

// TestMany has more endpoints than are read without asking, with a small backlog (a storm of dials).
func TestMany(t *testing.T) {
	env := newEnv()
	a, b := open(t, env, tcp.Options{}), open(t, env, tcp.Options{Backlog: 16})
	h := &hub{max: b.Attr().MaxFrame}
	l, err := b.Listen("127.0.0.1:0", h)
	if err != nil {
		t.Fatal(err)
	}
	const n = 500
	var ends []*end
	for range n {
		e := &end{}
		if e.ep, err = a.Dial("127.0.0.1", l.Addr(), transport.Options{}, e); err != nil {
			t.Fatal(err)
		}
		e.ep.Admit(a.Attr().MaxFrame, true)
		ends = append(ends, e)
		if len(ends)%20 == 0 { // the system repeats refused dials after a second: help the test
			b.Progress()
		}
	}
	turn := func() { a.Progress(); a.Flush(); b.Progress(); b.Flush() }
	for _, e := range ends {
		e.ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 8), Done: e})
	}
	until(t, "all answers", turn, func() bool {
		for _, e := range ends {
			if e.got != 1 || e.executed != 1 {
				return false
			}
		}
		return true
	})
	if len(h.ends) != n {
		t.Errorf("%d accepted", len(h.ends))
	}
	for i, e := range ends {
		if i%2 == 0 {
			e.ep.Close()
		}
	}
	until(t, "half of them gone", turn, func() bool {
		gone := 0
		for _, e := range h.ends {
			if e.err != nil {
				gone++
			}
		}
		return gone == n/2
	})
}

func TestBadAddresses(t *testing.T) {
	f := open(t, newEnv(), tcp.Options{})
	e := &end{}
	for _, addr := range []string{"", "host:80", "1.2.3.4", "1.2.3.4:99999", "[fe80::1%nosuch0]:1"} {
		if _, err := f.Dial("", addr, transport.Options{}, e); err == nil {
			t.Errorf("Dial(%q) must fail at once", addr)
		} else if !strings.HasPrefix(err.Error(), strings.TrimSpace("tcp: dial "+addr)) {
			t.Errorf("%v: must say what was dialed", err)
		}
	}
	if _, err := f.Dial("eth0", "127.0.0.1:1", transport.Options{}, e); err == nil {
		t.Errorf("a local address must be one")
	}
	_, err := f.Listen("203.0.113.7:0", nil)
	var te *tcp.Error
	if !errors.As(err, &te) || !errors.Is(err, unix.EADDRNOTAVAIL) || !strings.Contains(err.Error(), "no interface has this address") {
		t.Errorf("Listen at somebody else's address: %v", err)
	}
	l, err := f.Listen(":0", &hub{})
	if err != nil || !strings.HasPrefix(l.Addr(), "127.0.0.1:") {
		t.Errorf("no host is loopback: %v, %v", l, err)
	}
	_, err = f.Listen(l.Addr(), &hub{})
	if !errors.Is(err, unix.EADDRINUSE) || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("Listen twice: %v", err)
	}
}

// TestDialErrors: what comes late names both ends, and says why.
func TestDialErrors(t *testing.T) {
	f := open(t, newEnv(), tcp.Options{})
	for _, c := range []struct {
		local, remote, want string
		is                  error
	}{
		{"127.0.0.1", nobody(t, "127.0.0.1"), "nobody listens there", unix.ECONNREFUSED},
		{"203.0.113.7", "127.0.0.1:9", "no interface has the local address", unix.EADDRNOTAVAIL},
		{"127.0.0.1", "[::1]:9", "", nil},
	} {
		e := &end{}
		if _, err := f.Dial(c.local, c.remote, transport.Options{}, e); err != nil {
			t.Errorf("Dial(%s, %s): %v", c.local, c.remote, err)
			continue
		}
		until(t, "the error", func() { f.Progress() }, func() bool { return e.err != nil })
		if c.is != nil && !errors.Is(e.err, c.is) || !strings.Contains(e.err.Error(), c.want) ||
			!strings.Contains(e.err.Error(), c.local) || !strings.Contains(e.err.Error(), c.remote) {
			t.Errorf("Dial(%s, %s): %v", c.local, c.remote, e.err)
		}
	}
}

// logged counts what is logged.
type logged struct {
	slog.Handler
	lines []string
}

func (l *logged) Write(p []byte) (int, error) {
	l.lines = append(l.lines, string(p))
	return len(p), nil
}

// TestNoDescriptors: without a descriptor left the listener rests, says so once, and goes on later.
func TestNoDescriptors(t *testing.T) {
	env := newEnv()
	log := &logged{}
	env.Log = slog.New(slog.NewTextHandler(log, nil))
	f := open(t, env, tcp.Options{})
	h := &hub{max: f.Attr().MaxFrame}
	l, err := f.Listen("127.0.0.1:0", h)
	if err != nil {
		t.Fatal(err)
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", l.Addr()) // waits in the backlog
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	none := was
	none.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Skip(err)
	}
	restore := func() { unix.Setrlimit(unix.RLIMIT_NOFILE, &was) }
	defer restore()
	busy, rests := 0, false
	for start := time.Now(); time.Since(start) < 350*time.Millisecond; {
		if f.Progress() > 0 {
			busy++
		}
		rests = f.Deadline() > env.Now() || rests // the engine must not sleep longer
		p := []unix.PollFd{{Fd: int32(f.EventFD()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(p, 10); n > 0 {
			busy++
		}
	}
	if _, err := f.Dial("", l.Addr(), transport.Options{}, &end{}); !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("Dial without descriptors: %v", err)
	}
	restore()
	if busy > 12 || !rests { // it looks again every 100 ms
		t.Errorf("busy %d times, has a deadline: %v", busy, rests)
	}
	if len(log.lines) != 1 || !strings.Contains(log.lines[0], "ulimit -n") {
		t.Errorf("logged %q, want one line", log.lines)
	}
	until(t, "the connection that waited", func() { f.Progress() }, func() bool { return len(h.ends) == 1 })
}
