package stream_test

import (
	"context"
	"errors"
	"io"
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

// TestInsideHandler: a handler of the worker that a stream is on may wait for it, as for everything else: what the stream waits for comes all the same.
func TestInsideHandler(t *testing.T) {
	tidy(t)
	p := newPair(t, stream.Options{Window: 64 << 10}, stream.Options{})
	a, b := p.conns(t)
	for what, wait := range map[string]func() error{
		"read": func() error {
			_, err := io.ReadFull(b, make([]byte, 300_000))
			return err
		},
		"write": func() error {
			_, err := b.Write(make([]byte, 300_000))
			return err
		},
		"open": func() error {
			c, err := p.sm.Open(within(t), b.Endpoint())
			return errors.Join(err, c.Close())
		},
		"accept": func() error {
			c, err := p.ln.Accept()
			return errors.Join(err, c.Close())
		},
	} {
		ended, inside := make(chan error, 1), make(chan struct{})
		p.sw.HandleAM(1, func(*braid.Message) {
			close(inside)
			ended <- wait()
		})
		in, err := p.cm.Incoming()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Endpoint().SendAM(within(t), 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		<-inside
		if err := a.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond) // until it waits
		switch what {
		case "read":
			if _, err := a.Write(make([]byte, 300_000)); err != nil {
				t.Error(err)
			}
		case "write":
			if _, err := io.ReadFull(a, make([]byte, 300_000)); err != nil {
				t.Error(err)
			}
		case "accept":
			c, err := p.cm.Open(within(t), a.Endpoint())
			if err != nil {
				t.Error(err)
			}
			defer c.Close()
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s in a handler: %v", what, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s in a handler never ends", what)
		}
		in.Close()
	}
}
