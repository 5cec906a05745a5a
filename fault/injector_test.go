package fault_test

import (
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
	"golang.org/x/sys/unix"
)

// pipe is one end of a socket pair, as a Stream.
type pipe struct {
	fd     int
	resets int
	closes int
}

func pair(t *testing.T) (a, b *pipe) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		unix.SetNonblock(fd, true)
	}
	return &pipe{fd: fds[0]}, &pipe{fd: fds[1]}
}

func again(n int, err error) (int, error) {
	switch {
	case err == unix.EAGAIN:
		return 0, transport.ErrAgain
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (p *pipe) Read(b []byte) (int, error) { return again(unix.Read(p.fd, b)) }
func (p *pipe) Writev(v [][]byte) (int, error) {
	var all []byte
	for _, b := range v {
		all = append(all, b...)
	}
	return again(unix.Write(p.fd, all))
}
func (p *pipe) Connected() error { return nil }
func (p *pipe) Shutdown() error  { return unix.Shutdown(p.fd, unix.SHUT_WR) }
func (p *pipe) Reset() error     { p.resets++; return unix.Shutdown(p.fd, unix.SHUT_RDWR) }
func (p *pipe) Close(bool) error { p.closes++; return unix.Close(p.fd) }
func (p *pipe) Reached() uint64  { return 7 }
func (p *pipe) FD() int          { return p.fd }

// clock is moved by hand.
type clock struct{ t time.Duration }

func (c *clock) now() time.Duration { return c.t }

func write(t *testing.T, s transport.Stream, text string) (int, error) {
	t.Helper()
	return s.Writev([][]byte{[]byte(text)})
}

func read(s transport.Stream) (string, error) {
	b := make([]byte, 100)
	n, err := s.Read(b)
	return string(b[:n]), err
}

func TestHealthy(t *testing.T) {
	inj := fault.New(new(clock).now)
	a, b := pair(t)
	s := inj.Wrap(a, "1.1.1.1:1", "2.2.2.2:2")
	inj.Cut("3.3.3.3", fault.Reset, 0)
	inj.Apply(fault.Rule{Rail: "2.2.2.2", Kind: fault.Reset}) // the remote address isn't asked for
	if n, err := write(t, s, "hello"); n != 5 || err != nil {
		t.Fatalf("write: %d, %v", n, err)
	}
	if got, _ := read(b); got != "hello" {
		t.Errorf("read %q", got)
	}
	write(t, b, "back")
	if got, err := read(s); got != "back" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	for _, c := range inj.Report() {
		if c.Streams != 0 || !c.InForce {
			t.Errorf("a cut that hit nothing must show: %+v", c)
		}
	}
	if err := s.Close(false); err != nil || a.closes != 1 {
		t.Errorf("close: %v, %d", err, a.closes)
	}
	if _, err := read(b); err != io.EOF {
		t.Errorf("the peer reads %v, want EOF", err)
	}
	b.Close(false)
}

func TestResetCut(t *testing.T) {
	c := &clock{t: 7 * time.Second}
	inj := fault.New(c.now)
	a, b := pair(t)
	s := inj.Wrap(a, "[::1]:1", "2.2.2.2:2")
	inj.Cut("::1", fault.Reset, time.Second)
	if _, err := read(s); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
	if _, err := write(t, s, "x"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("write: %v", err)
	}
	if _, err := read(b); err == transport.ErrAgain || a.resets != 1 {
		t.Errorf("the peer must see it: %v, %d", err, a.resets)
	}
	a2, b2 := pair(t)
	late := inj.Wrap(a2, "[::1]:5", "2.2.2.2:2")
	if err := late.Connected(); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection while the cut lasts: %v", err)
	}
	if r := inj.Report()[0]; r.At != 7*time.Second || r.Streams != 1 || r.Refused != 1 || !r.InForce {
		t.Errorf("report: %+v", r)
	}
	c.t += time.Second
	a3, b3 := pair(t)
	fresh := inj.Wrap(a3, "[::1]:6", "2.2.2.2:2")
	if err := fresh.Connected(); err != nil {
		t.Errorf("a new connection after the cut: %v", err)
	}
	if _, err := read(s); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a cut stream stays cut: %v", err)
	}
	if r := inj.Report()[0]; r.InForce || !r.Over {
		t.Errorf("report: %+v", r)
	}
	for _, s := range []transport.Stream{s, late, fresh, b, b2, b3} {
		s.Close(false)
	}
}

func TestSilence(t *testing.T) {
	c := &clock{t: 1}
	inj := fault.New(c.now)
	a, b := pair(t)
	s := inj.Wrap(a, "1.1.1.1:1", "2.2.2.2:2")
	write(t, s, "before")
	write(t, b, "unread")
	inj.Cut("1.1.1.1", fault.Silence, time.Second)
	if _, err := read(s); err != transport.ErrAgain {
		t.Errorf("read: %v", err)
	}
	swallowed, big := 0, make([]byte, 100<<10)
	for range 10 {
		n, err := s.Writev([][]byte{big})
		if swallowed += n; err != nil {
			if err != transport.ErrAgain || n != 0 {
				t.Errorf("write: %d, %v", n, err)
			}
			break
		}
	}
	if swallowed != 256<<10 {
		t.Errorf("swallowed %d", swallowed)
	}
	if s.Shutdown() != nil || s.Close(true) != nil || a.closes != 0 {
		t.Errorf("the owner closes, and the peer must not hear of it")
	}
	if got, _ := read(b); got != "before" {
		t.Errorf("what was written before the cut arrives: %q", got)
	}
	if _, err := read(b); err != transport.ErrAgain {
		t.Errorf("the peer heard something: %v", err)
	}
	a2, b2 := pair(t)
	if err := inj.Wrap(a2, "1.1.1.1:2", "2.2.2.2:2").Connected(); err != transport.ErrAgain {
		t.Errorf("a new connection while silent: %v", err)
	}
	c.t += 2 * time.Second
	inj.Report()
	if a.closes != 1 {
		t.Errorf("when the rule is over the connection must go: closed %d times", a.closes)
	}
	if _, err := read(b); err == transport.ErrAgain {
		t.Errorf("the peer must learn now")
	}
	inj.Close()
	unix.Close(a2.fd)
	b.Close(false)
	b2.Close(false)
}

func TestAtWrite(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Reset, fault.Silence} {
		c := &clock{t: 1}
		inj := fault.New(c.now)
		a, b := pair(t)
		a2, b2 := pair(t)
		s := inj.Wrap(a, "1.1.1.1:1", "2.2.2.2:2")
		other := inj.Wrap(a2, "1.1.1.1:9", "2.2.2.2:2")
		inj.Apply(fault.Rule{Rail: "1.1.1.1", Kind: kind, Start: fault.Write, For: time.Second})
		if r := inj.Report()[0]; r.InForce || r.At != 0 {
			t.Errorf("%v: it must wait: %+v", kind, r)
		}
		c.t = 5 * time.Second
		n, err := s.Writev([][]byte{[]byte("0123"), []byte("456789")})
		if kind == fault.Reset && (n != 5 || !errors.Is(err, syscall.ECONNRESET)) {
			t.Errorf("reset: %d, %v", n, err)
		}
		if kind == fault.Silence && (n != 10 || err != nil) {
			t.Errorf("silence: %d, %v", n, err)
		}
		if got, _ := read(b); got != "01234" {
			t.Errorf("%v: half of the write arrives, got %q", kind, got)
		}
		if n, err := write(t, other, "x"); kind == fault.Reset && err == nil || kind == fault.Silence && n != 1 {
			t.Errorf("%v: the other stream of the rail: %d, %v", kind, n, err)
		}
		if r := inj.Report()[0]; r.At != 5*time.Second || r.Streams != 2 || !r.InForce {
			t.Errorf("%v: report %+v", kind, r)
		}
		inj.Close()
		for _, s := range []transport.Stream{s, other, b, b2} {
			s.Close(false)
		}
	}
}

// TestRules has several rules at once, and one that is healed before it came into force.
func TestRules(t *testing.T) {
	inj := fault.New(new(clock).now)
	a, b := pair(t)
	s := inj.Wrap(a, "1.1.1.1:1", "2.2.2.2:2")
	inj.Apply(fault.Rule{Rail: "2.2.2.2", Kind: fault.Silence, Side: fault.Remote})
	inj.Cut("1.1.1.1", fault.Reset, 0)
	inj.Apply(fault.Rule{Rail: "9.9.9.9", Side: fault.Either, Start: fault.Write})
	if _, err := read(s); err != transport.ErrAgain {
		t.Errorf("the first rule that hit decides: %v", err)
	}
	inj.Heal("9.9.9.9")
	want := []fault.Status{{Streams: 1, InForce: true}, {InForce: true}, {Over: true}}
	for i, r := range inj.Report() {
		if r.Streams != want[i].Streams || r.InForce != want[i].InForce || r.Over != want[i].Over {
			t.Errorf("rule %d: %+v, want %+v", i, r, want[i])
		}
	}
	inj.Close()
	s.Close(false)
	b.Close(false)
}

// TestConcurrent cuts from one goroutine while another one uses and closes streams: for the race detector.
func TestConcurrent(t *testing.T) {
	start := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(start) })
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			inj.Apply(fault.Rule{Rail: "1.1.1.1", Kind: fault.Kind(i % 2), Start: fault.Start(i % 2), For: 100 * time.Microsecond})
			inj.Apply(fault.Rule{Action: []fault.Action{fault.Delay, fault.Throttle, fault.Pause}[i%3], Delay: time.Microsecond, Rate: 1e9, For: 100 * time.Microsecond})
			inj.Report()
			time.Sleep(50 * time.Microsecond)
		}
	})
	for range 300 {
		a, b := pair(t)
		s := inj.Wrap(a, "1.1.1.1:1", "2.2.2.2:2")
		for range 20 {
			write(t, s, "hello")
			read(b)
			read(s)
		}
		s.Close(false)
		b.Close(false)
	}
	close(stop)
	wg.Wait()
	inj.Close()
}
