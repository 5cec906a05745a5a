package stream_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// TestWorkerClosed: when its worker is closed, or its node, from anywhere, a Mux is: whoever accepts, reads or opens is told, and nothing is left behind.
func TestWorkerClosed(t *testing.T) {
	for name, end := range map[string]func(*pair) error{
		"worker": func(p *pair) error { return p.sw.Close() },
		"node":   func(p *pair) error { return p.server.Close() },
		"worker, in a handler": func(p *pair) error {
			done := make(chan error, 1)
			p.sw.HandleAM(1, func(*braid.Message) { done <- p.sw.Close() })
			ep, err := p.cw.Dial(context.Background(), p.ln.Addr().String())
			return errors.Join(err, ep.SendAM(context.Background(), 1, nil, nil), <-done)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, stream.Options{}, stream.Options{})
			in, err := p.sm.Incoming()
			if err != nil {
				t.Fatal(err)
			}
			ends := make(chan error, 2)
			go func() { ends <- http.Serve(p.ln, http.NotFoundHandler()) }()
			go func() { _, err := in.Accept(); ends <- err }()
			time.Sleep(10 * time.Millisecond) // until they wait
			if err := end(p); err != nil {
				t.Fatal(err)
			}
			for range cap(ends) {
				select {
				case err := <-ends:
					var op *net.OpError
					if !errors.Is(err, net.ErrClosed) || !errors.As(err, &op) {
						t.Error(err)
					}
				case <-time.After(patience):
					t.Fatal("somebody still accepts streams of a worker that is closed")
				}
			}
			if _, err := p.sm.Incoming(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Incoming: %v", err)
			}
			if _, err := p.sm.Dial(within(t), "127.0.0.1:1"); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Dial: %v", err)
			}
			if err := p.sm.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
