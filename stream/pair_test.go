package stream_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// patience is how long anything may take that should take milliseconds, on a busy machine.
const patience = 30 * time.Second

// tidy fails the test if it leaves goroutines behind.
func tidy(t testing.TB) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// pair is two nodes: one listens, one dials.
type pair struct {
	server, client *braid.Node
	sw, cw         *braid.Worker
	sm, cm         *stream.Mux
	ln             *stream.Listener
}

func newPair(t testing.TB, so, co stream.Options) *pair {
	return newPairOver(t, braid.Options{}, so, co)
}

func newPairOver(t testing.TB, bo braid.Options, so, co stream.Options) *pair {
	t.Helper()
	p := &pair{}
	side := func(o stream.Options) (*braid.Node, *braid.Worker, *stream.Mux) {
		n, err := braid.Open(bo)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorker(t, n)
		m, err := stream.New(w, o)
		if err != nil {
			t.Fatal(err)
		}
		return n, w, m
	}
	p.server, p.sw, p.sm = side(so)
	p.client, p.cw, p.cm = side(co)
	t.Cleanup(p.close)
	var err error
	if p.ln, err = p.sm.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) close() {
	p.cm.Close()
	p.sm.Close()
	p.client.Close()
	p.server.Close()
}

// conns is the two ends of a stream.
func (p *pair) conns(t testing.TB) (client, server *stream.Conn) {
	t.Helper()
	c, err := p.cm.Dial(within(t), p.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*stream.Conn), s.(*stream.Conn)
}

var _ net.Listener = (*stream.Listener)(nil)

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
