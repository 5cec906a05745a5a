package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

func write(t testing.TB, c net.Conn, s string) {
	t.Helper()
	if n, err := io.WriteString(c, s); n != len(s) || err != nil {
		t.Fatalf("wrote %d of %q, %v", n, s, err)
	}
}

func read(t testing.TB, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v, want %q", got, err, want)
	}
}

// fails: a read and a write of c end with such an error.
func fails(t testing.TB, what string, c net.Conn, op string, want ...error) {
	t.Helper()
	var err error
	if op == "read" {
		_, err = c.Read(make([]byte, 1))
	} else {
		_, err = c.Write([]byte{1})
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("%s, %s: %v, want %v", what, op, err, w)
		}
	}
	if ne := net.Error(nil); want[0] != io.EOF && (!errors.As(err, &ne) || ne.Timeout()) {
		t.Errorf("%s, %s: %v is no net.Error, or a time-out", what, op, err)
	}
}

// TestHalfClose: each direction ends for itself.
func TestHalfClose(t *testing.T) {
	tidy(t)
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	write(t, a, "question")
	for range 2 { // the second says nothing new
		if err := a.CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Write([]byte{1}); err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after CloseWrite: %v", err)
	}
	read(t, b, "question")
	fails(t, "after CloseWrite", b, "read", io.EOF)
	write(t, b, "answer")
	if err := b.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	read(t, a, "answer")
	fails(t, "after both", a, "read", io.EOF)
	for _, c := range []*stream.Conn{a, b} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the second Close: %v", err)
		}
		if err := c.CloseWrite(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("CloseWrite after Close: %v", err)
		}
		if err := c.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("SetDeadline after Close: %v", err)
		}
	}
}

// TestClose: what was written before is read; who writes to one that is closed is told so, soon.
func TestClose(t *testing.T) {
	tidy(t)
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	write(t, b, "nobody reads this")
	write(t, a, "the last words")
	a.Close()
	fails(t, "closed", a, "read", net.ErrClosed)
	fails(t, "closed", a, "write", net.ErrClosed)
	read(t, b, "the last words")
	fails(t, "closed by the peer", b, "read", io.EOF)
	fails(t, "closed by the peer", b, "write", stream.ErrGone)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestCloseUnderUse: who waits in a call when its stream is closed, here or there, is let go.
func TestCloseUnderUse(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	for _, here := range []bool{true, false} {
		a, b := p.conns(t)
		ends := make(chan error, 3)
		go func() {
			_, err := a.Read(make([]byte, 1))
			ends <- err
		}()
		for range 2 { // one that waits for a window, one that waits for the other
			go func() {
				_, err := a.Write(make([]byte, 4<<20))
				ends <- err
			}()
		}
		io.ReadFull(b, make([]byte, 1))
		if here {
			a.Close()
		} else {
			b.Close()
		}
		for range 3 {
			err := <-ends
			switch {
			case here && errors.Is(err, net.ErrClosed):
			case !here && (errors.Is(err, io.EOF) || errors.Is(err, stream.ErrGone)):
			default:
				t.Errorf("closed here: %v: %v", here, err)
			}
		}
		a.Close()
		b.Close()
	}
}

// TestReset: the peer hears the reason, and what the system would say.
func TestReset(t *testing.T) {
	tidy(t)
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	write(t, a, "read before")
	a.Reset("the disk is full\n")
	fails(t, "reset here", a, "read", net.ErrClosed)
	read(t, b, "read before")
	for _, op := range []string{"read", "write"} {
		fails(t, "reset there", b, op, stream.ErrReset, syscall.ECONNRESET)
	}
	if _, err := b.Read(make([]byte, 1)); !strings.Contains(err.Error(), "the disk is full?") {
		t.Errorf("no reason: %v", err)
	}
	a.Reset("again")
	b.Reset("too late")
	if err := b.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestRefused: a stream that nobody takes is refused, and the refusal says why.
func TestRefused(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{Streams: 3, Backlog: 2}, stream.Options{})
	refused := func(why string) {
		t.Helper()
		c, err := p.cm.Dial(within(t), p.ln.Addr().String())
		var op *net.OpError
		if !errors.Is(err, stream.ErrRefused) || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), why) || !errors.As(err, &op) || op.Op != "dial" {
			t.Errorf("%v, %v, want a refusal that says %q", c, err, why)
		}
	}
	dial := func() *stream.Conn {
		t.Helper()
		c, err := p.cm.Dial(within(t), p.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c.(*stream.Conn)
	}
	first := dial()
	dial()
	refused("accepted")
	s1, _ := p.ln.Accept()
	third := dial()
	refused("3 streams")
	first.Close()
	fails(t, "gone", s1, "read", io.EOF)
	if _, err := p.ln.Accept(); err != nil { // the second
		t.Fatal(err)
	}
	fourth := dial() // the place of the first
	p.ln.Close()
	for _, c := range []*stream.Conn{third, fourth} { // nobody accepted them
		fails(t, "the listener is closed", c, "read", stream.ErrReset)
	}
	refused("nobody")
	if _, err := p.ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := p.ln.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestEitherSideOpens: the side that was dialed opens streams on the same endpoint; numbers don't meet.
func TestEitherSideOpens(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	in, err := p.cm.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.conns(t)
	for range 3 {
		back, err := p.sm.Open(within(t), b.Endpoint())
		if err != nil {
			t.Fatal(err)
		}
		c, err := in.Accept()
		if err != nil {
			t.Fatal(err)
		}
		write(t, back, "from there")
		write(t, a, "from here")
		read(t, c, "from there")
		read(t, b, "from here")
		if c.(*stream.Conn).Endpoint() != a.Endpoint() || c.RemoteAddr().String() != p.ln.Addr().String() {
			t.Errorf("it is on another endpoint, with %v", c.RemoteAddr())
		}
	}
	for _, addr := range []net.Addr{a.LocalAddr(), a.RemoteAddr(), b.LocalAddr(), b.RemoteAddr(), p.ln.Addr()} {
		if _, _, err := net.SplitHostPort(addr.String()); err != nil || addr.Network() != "braid" {
			t.Errorf("address %q of network %q: %v", addr, addr.Network(), err)
		}
	}
}

// TestEndpointEnds: the end of an endpoint ends each of its streams with its error, also those that nobody has accepted; what came before is read first.
func TestEndpointEnds(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	a, b := p.conns(t)
	waiting := make(chan error, 1)
	go func() {
		_, err := a.Read(make([]byte, 1))
		waiting <- err
	}()
	write(t, b, "x")
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	write(t, a, "read before")
	read(t, b, "read")
	open, err := p.cm.Open(within(t), a.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	a.Endpoint().Abort()
	for _, c := range []*stream.Conn{a, open} {
		fails(t, "aborted here", c, "read", braid.ErrClosed, net.ErrClosed)
		fails(t, "aborted here", c, "write", braid.ErrClosed)
	}
	read(t, b, " before")
	fails(t, "aborted there", b, "read", braid.ErrPeerFailed)
	late, err := p.ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fails(t, "aborted there", late, "write", braid.ErrPeerFailed)
	if _, err := p.cm.Open(within(t), a.Endpoint()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a stream on an endpoint that is over: %v", err)
	}
	c, s := p.conns(t) // on a new endpoint
	write(t, c, "anew")
	read(t, s, "anew")
}

// TestMuxClose: what was written on streams that are closed arrives before Mux.Close returns; those that are open are reset.
func TestMuxClose(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{})
	a, b := p.conns(t)
	open, other := p.conns(t)
	text := bytes.Repeat([]byte("0123456789"), 6_000) // fits the first window
	if _, err := a.Write(text); err != nil {
		t.Fatal(err)
	}
	a.Close()
	p.cm.Close()
	fails(t, "its Mux is closed", open, "read", net.ErrClosed)
	fails(t, "the peer's Mux is closed", other, "read", stream.ErrReset)
	if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := p.cm.Dial(within(t), p.ln.Addr().String()); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.cm.Incoming(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if m, err := stream.New(newWorker(t, p.client), stream.Options{}); err != nil {
		t.Error(err)
	} else {
		m.Close()
	}
}

// TestNew: what can't be is refused, with a reason.
func TestNew(t *testing.T) {
	tidy(t)
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	owned, err := braid.Open(braid.Options{Owned: true})
	if err != nil {
		t.Fatal(err)
	}
	defer owned.Close()
	w := newWorker(t, n)
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closed := newWorker(t, n)
	closed.Close()
	for what, try := range map[string]func() (*stream.Mux, error){
		"owned":  func() (*stream.Mux, error) { return stream.New(newWorker(t, owned), stream.Options{}) },
		"twice":  func() (*stream.Mux, error) { return stream.New(w, stream.Options{}) },
		"closed": func() (*stream.Mux, error) { return stream.New(closed, stream.Options{}) },
		"window": func() (*stream.Mux, error) { return stream.New(newWorker(t, n), stream.Options{Window: -1}) },
		"large":  func() (*stream.Mux, error) { return stream.New(newWorker(t, n), stream.Options{Window: 2 << 30}) },
	} {
		var op *braid.OpError
		if _, err := try(); !errors.As(err, &op) {
			t.Errorf("%s: %v", what, err)
		}
	}
	m.Close()
	if m, err = stream.New(w, stream.Options{}); err != nil {
		t.Errorf("after Close: %v", err)
	}
	m.Close()
}

// TestSilentPeer: who opens a stream to a peer that has no Mux is told after a while, or when his context is over.
func TestSilentPeer(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{Answer: 50 * time.Millisecond})
	plain, err := newWorker(t, p.server).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.cm.Dial(within(t), plain.Addr()); err == nil || !strings.Contains(err.Error(), "Mux") {
		t.Errorf("no Mux: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.cm.Dial(ctx, plain.Addr()); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := p.cm.Dial(within(t), "127.0.0.1:1"); !errors.Is(err, braid.ErrDial) {
		t.Errorf("nobody is there: %v", err)
	}
}

// TestChurn: streams that come and go one after the other leave nothing: the place of one is free for the next at once.
func TestChurn(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{Streams: 1}, stream.Options{})
	for i := range 500 {
		a, b := p.conns(t)
		write(t, a, "x")
		first, second := a, b
		if i%2 == 1 {
			read(t, b, "x")
			a.CloseWrite()
			fails(t, "its end", b, "read", io.EOF)
			first, second = b, a
		}
		first.Close()
		if _, err := io.ReadAll(second); err != nil {
			t.Fatal(err)
		}
		second.Close()
	}
}

// TestForeignEndpoint: streams on an endpoint of another worker are refused: its own Mux counts them.
func TestForeignEndpoint(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{}, stream.Options{Answer: 10 * time.Millisecond})
	a, b := p.conns(t)
	other, err := stream.New(newWorker(t, p.client), stream.Options{Answer: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var op *net.OpError
	if _, err := other.Open(within(t), a.Endpoint()); !errors.As(err, &op) || !strings.Contains(err.Error(), "another worker") {
		t.Error(err)
	}
	write(t, a, "goes on")
	read(t, b, "goes on")
}
