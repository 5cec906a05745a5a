package braid_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/wire"
)

func worker(t *testing.T, o braid.Options) *braid.Worker {
	t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return newWorker(t, n)
}

// server is a TCP server that is no braid peer.
func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(patience))
			serve(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().String()
}

// nobody is an address on which nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// TestBadDial: a dial that can't succeed ends soon, and says where it went and why it failed.
func TestBadDial(t *testing.T) {
	const handshake = 200 * time.Millisecond
	swallow := func(c net.Conn) { io.Copy(io.Discard, c) }
	for _, c := range []struct {
		name string
		addr func(*testing.T) string
		text string
	}{
		{"nobody listens", nobody, "refused"},
		{"black hole", func(t *testing.T) string { return server(t, swallow) }, "in time"},
		{"hangs up", func(t *testing.T) string { return server(t, func(net.Conn) {}) }, "connection"},
		{"HTTP server", func(t *testing.T) string {
			return server(t, func(c net.Conn) {
				io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
				swallow(c)
			})
		}, "HTTP"},
		{"noise", func(t *testing.T) string {
			return server(t, func(c net.Conn) { c.Write(noise(8, 3000)); swallow(c) })
		}, "braid"},
		{"preface, then nothing", func(t *testing.T) string {
			return server(t, func(c net.Conn) { c.Write(rawPreface()); swallow(c) })
		}, "in time"},
		{"preface, then noise", func(t *testing.T) string {
			return server(t, func(c net.Conn) { c.Write(append(rawPreface(), noise(9, 3000)...)); swallow(c) })
		}, "braid"},
		{"a peer that dials too", func(t *testing.T) string {
			return server(t, func(c net.Conn) { c.Write(append(rawPreface(), rawHello(hello())...)); swallow(c) })
		}, "Hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tidy(t)
			addr := c.addr(t)
			w := worker(t, braid.Options{Times: braid.Times{Handshake: handshake}})
			since := time.Now()
			ep, err := w.Dial(testContext(t), addr)
			took := time.Since(since)
			var op *braid.OpError
			switch {
			case !errors.Is(err, braid.ErrDial) || !errors.As(err, &op) || ep != nil:
				t.Fatalf("%v, %v; want %v", ep, err, braid.ErrDial)
			case op.Op != "dial" || op.Fate != braid.NotExecuted:
				t.Errorf("op %q, fate %v", op.Op, op.Fate)
			case !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), c.text):
				t.Errorf("%q says neither %s nor %q", err, addr, c.text)
			case c.text == "in time" && took < handshake:
				t.Errorf("it gave up after %v, Times.Handshake is %v", took, handshake)
			case took > handshake+2*time.Second:
				t.Errorf("it took %v, Times.Handshake is %v", took, handshake)
			}
		})
	}
}

// TestC15_VersionsAndRefusals: a peer that says no is quoted, and errors.Is tells the kinds of no apart.
func TestC15_VersionsAndRefusals(t *testing.T) {
	tidy(t)
	say := func(version wire.Version, code wire.RejectCode, text string) string {
		return server(t, func(c net.Conn) {
			c.Write(raw(wire.IDPreface, control, wire.Preface{Version: version}.AppendTo(nil), nil))
			c.Write(raw(wire.IDReject, control, wire.Reject{Code: code, Text: text}.AppendTo(nil), nil))
			io.Copy(io.Discard, c)
		})
	}
	w := worker(t, braid.Options{Times: braid.Times{Handshake: time.Second}})
	for _, c := range []struct {
		name string
		addr string
		want error
		text []string
	}{
		{"another version", say(wire.Version{Major: 9, Minor: 8}, wire.RejectVersion, "no"), braid.ErrVersion, []string{"9.8", wire.Ours().String()}},
		{"rejects our version", say(wire.Ours(), wire.RejectVersion, "we speak 9.8 here"), braid.ErrVersion, []string{"we speak 9.8 here"}},
		{"rejects us", say(wire.Ours(), wire.RejectLimit, "enough of you"), braid.ErrRefused, []string{"enough of you"}},
	} {
		_, err := w.Dial(testContext(t), c.addr)
		if !errors.Is(err, c.want) || !errors.Is(err, braid.ErrDial) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
			continue
		}
		for _, text := range append(c.text, c.addr) {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", c.name, err, text)
			}
		}
	}
}

// TestAcceptExpires: an Accept whose context ends takes no endpoint with it: each dialer is accepted by a later call.
func TestAcceptExpires(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	const dials = 50
	stop := make(chan struct{})
	accepted := make(chan int)
	go func() {
		n := 0
		for d := time.Duration(0); !over(stop); d = (d + 37*time.Microsecond) % time.Millisecond {
			ctx, cancel := context.WithTimeout(context.Background(), d)
			if _, err := p.ln.Accept(ctx); err == nil {
				n++
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Accept: %v", err)
			}
			cancel()
		}
		accepted <- n
	}()
	for range dials {
		ep, err := p.aw.Dial(testContext(t), p.ln.Addr())
		if err != nil {
			t.Error(err)
			break
		}
		if err := ep.SendAM(testContext(t), 1, nil, nil); err != nil { // it stays until the peer has seen it
			t.Error(err)
		}
	}
	time.Sleep(20 * time.Millisecond) // for the last one to be accepted
	close(stop)
	n := <-accepted
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for ; n < dials; n++ {
		if _, err := p.ln.Accept(ctx); err != nil {
			break
		}
	}
	if n != dials {
		t.Errorf("%d of %d dialers were accepted", n, dials)
	}
}

// TestDialContext: a dial ends with its context, whatever the other side does, and leaves nothing behind.
func TestDialContext(t *testing.T) {
	tidy(t)
	hole := server(t, func(c net.Conn) { io.Copy(io.Discard, c) })
	w := worker(t, braid.Options{})
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := w.Dial(canceled, hole); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	since := time.Now()
	_, err := w.Dial(ctx, hole)
	var op *braid.OpError
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &op) || !op.Timeout() || !strings.Contains(err.Error(), hole) {
		t.Errorf("%v, want an *OpError that is %v and names %s", err, context.DeadlineExceeded, hole)
	}
	if took := time.Since(since); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestBadAddress: text that is no address is refused with the text in the error, by Dial and Listen.
func TestBadAddress(t *testing.T) {
	tidy(t)
	w := worker(t, braid.Options{Times: braid.Times{Handshake: time.Second}})
	for _, addr := range []string{
		"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1:1", "::1:80", "[::1",
		"[::1]", "[127.0.0.1", "127.0.0.1:http?", "127.0.0.1: 80", " 127.0.0.1:80", "127.0.0.1:0x50", ":80x", "tcp://127.0.0.1:80",
		"127.0.0.1:80/path", "127.0.0.1\x00:80", "\xff\xfe:80", "[fe80::1%nowhere]:80",
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		_, dialed := w.Dial(ctx, addr)
		_, listened := w.Listen(addr)
		cancel()
		for call, err := range map[string]error{"Dial": dialed, "Listen": listened} {
			var op *braid.OpError
			if !errors.As(err, &op) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s(%q): %v, want an *OpError", call, addr, err)
			} else if !strings.HasSuffix(op.Peer, addr) {
				t.Errorf("%s(%q): the error is about %q", call, addr, op.Peer)
			}
		}
	}
	for _, addr := range []string{"127.0.0.1:0", ":0", "nosuch.invalid:00"} {
		var op *braid.OpError
		if _, err := w.Dial(testContext(t), addr); !errors.As(err, &op) || errors.Is(err, braid.ErrDial) || !strings.Contains(err.Error(), "port 0 is for listeners") {
			t.Errorf("dial %s: %v, want that port 0 can't be dialed", addr, err)
		}
	}
}

// TestListenTwice: an address that is taken is an error that names it.
func TestListenTwice(t *testing.T) {
	tidy(t)
	w := worker(t, braid.Options{})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Listen(ln.Addr())
	var op *braid.OpError
	if !errors.As(err, &op) || op.Op != "listen" || !strings.Contains(err.Error(), ln.Addr()) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("%v, want an *OpError that says that %s is in use", err, ln.Addr())
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Listen(ln.Addr()); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// TestNobodyAccepts: a program that only handles messages need not accept. Peers that came and went don't use up the places
// of those to come, and are not given to who accepts later.
func TestNobodyAccepts(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	bn, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	an, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { an.Close(); bn.Close() })
	bw, aw := newWorker(t, bn), newWorker(t, an)
	handled := 0
	bw.HandleAM(1, func(*braid.Message) { handled++ })
	ln, err := bw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const peers = 1100 // more than may wait at a time
	for i := range peers {
		ep, err := aw.Dial(ctx, ln.Addr())
		if err != nil {
			t.Fatalf("peer %d: %v", i, err)
		}
		if err := ep.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatalf("peer %d: %v", i, err)
		}
		if err := ep.Close(ctx); err != nil {
			t.Fatalf("peer %d: %v", i, err)
		}
	}
	last, err := aw.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	got, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got.Err() != nil || got.Addr() != last.Lanes()[0].Local {
		t.Errorf("accepted %s (%v), want the one that is there: %s", got.Addr(), got.Err(), last.Lanes()[0].Local)
	}
	if err := last.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := bn.Close(); err != nil { // no handler runs any more
		t.Error(err)
	}
	if handled != peers {
		t.Errorf("%d messages were handled, want %d", handled, peers)
	}
}
