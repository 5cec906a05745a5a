package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/explain"
	"github.com/openbraid/braid/iov"
	"github.com/openbraid/braid/stream"
)

// end is one way in which the only lane, and with it the endpoint, ends.
type end struct {
	name string
	end  func(ep, peer *braid.Endpoint, hangUp func())
	want error
}

// TestAfterTheEnd: what other packages do with an endpoint that is over says so as its own calls do, and never as if all had come.
func TestAfterTheEnd(t *testing.T) {
	for _, e := range []end{
		{"closed", func(ep, _ *braid.Endpoint, _ func()) { ep.Close(within(t)) }, net.ErrClosed},
		{"closed there", func(_, peer *braid.Endpoint, _ func()) { peer.Close(within(t)) }, net.ErrClosed},
		{"aborted there", func(_, peer *braid.Endpoint, _ func()) { peer.Abort() }, braid.ErrPeerFailed},
		{"hung up on", func(_, _ *braid.Endpoint, hangUp func()) { hangUp() }, braid.ErrLaneFailed},
	} {
		t.Run(e.name, func(t *testing.T) { e.run(t) })
	}
}

func (e *end) run(t *testing.T) {
	o := braid.Options{ErrorMode: braid.None, Lanes: 1, Rails: []string{"127.0.0.1"}}
	far, near := worker(t, o), worker(t, o)
	ln, err := far.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, hangUp := between(t, ln.Addr())
	ep, err := near.Dial(within(t), addr)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := ln.Accept(within(t))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := far.Node().Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	fm, nm := mux(t, far), mux(t, near)
	if _, err := fm.Incoming(); err != nil {
		t.Fatal(err)
	}
	c, err := nm.Open(within(t), ep)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	ep.OnEnd(func(err error) { over <- err })
	e.end(ep, peer, hangUp)
	<-over
	if x := explain.Of(ep); len(x.Lanes) > 0 {
		t.Errorf("it still has lanes: %+v", x)
	}
	key, l, ctx := mem.Key(braid.Read|braid.Write), iov.List{make([]byte, 50), make([]byte, 50)}, within(t)
	for name, call := range map[string]func() error{
		"Open":            func() error { _, err := nm.Open(ctx, ep); return err },
		"Read":            func() error { _, err := c.Read(make([]byte, 8)); return err },
		"Write":           func() error { _, err := c.Write(make([]byte, 8)); return err },
		"ReadFrom":        func() error { _, err := c.ReadFrom(strings.NewReader("text")); return err },
		"WriteTo":         func() error { _, err := c.WriteTo(io.Discard); return err },
		"CloseWrite":      c.CloseWrite,
		"iov.SendTag":     func() error { return iov.SendTag(ctx, ep, 1, l) },
		"iov.SendTagSync": func() error { return iov.SendTagSync(ctx, ep, 1, l) },
		"iov.SendAM":      func() error { return iov.SendAM(ctx, ep, 1, nil, l) },
		"iov.OfferAM":     func() error { return iov.OfferAM(ctx, ep, 1, nil, l) },
		"iov.Put":         func() error { return iov.Put(ctx, ep, l, key, 0) },
		"iov.Get":         func() error { return iov.Get(ctx, ep, l, key, 0) },
		"iov.RecvTagFrom": func() error { _, err := iov.RecvTagFrom(ctx, ep, l, 1, braid.ExactTag); return err },
	} {
		err := call()
		if errors.Is(err, net.ErrClosed) == errors.Is(err, braid.ErrPeerFailed) || !errors.Is(err, e.want) || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func worker(t *testing.T, o braid.Options) *braid.Worker {
	t.Helper()
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mux(t *testing.T, w *braid.Worker) *stream.Mux {
	t.Helper()
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// between is an address behind which one connection leads to another one, and what hangs up on both sides.
func between(t *testing.T, to string) (addr string, hangUp func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		d, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer d.Close()
		go func() { io.Copy(c, d) }()
		go func() { io.Copy(d, c) }()
		<-ctx.Done()
	}()
	t.Cleanup(func() { ln.Close(); hangUp(); <-done })
	return ln.Addr().String(), hangUp
}
