package braid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestCloseInsideHandler: a handler, a callback and an event may close their worker, or their node. Everything ends.
func TestCloseInsideHandler(t *testing.T) {
	for name, end := range map[string]func(p *pair) error{
		"worker": func(p *pair) error { return p.bw.Close() },
		"node":   func(p *pair) error { return p.bn.Close() },
		"deep":   func(p *pair) error { return deep(200, p.bw.Close) },
	} {
		t.Run(name, func(t *testing.T) {
			tidy(t)
			p := connect(t, braid.Options{}, braid.Options{})
			closed := make(chan error, 2)
			p.bw.HandleAM(1, func(m *braid.Message) { closed <- end(p) })
			for range 2 { // the second finds the worker closed, or never comes
				if err := p.a.SendAM(testContext(t), 1, nil, nil); err != nil && !errors.Is(err, braid.ErrPeerFailed) {
					t.Fatal(err)
				}
			}
			select {
			case err := <-closed:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(patience):
				t.Fatal("Close inside a handler waits for it")
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := p.b.SendAM(ctx, 1, nil, nil); !errors.Is(err, braid.ErrClosed) {
				t.Errorf("a message of the closed worker: %v", err)
			}
			if err := p.bw.Close(); err != nil {
				t.Error(err)
			}
			p.a.Abort()
		})
	}
}

// deep calls fn from far down the stack.
func deep(n int, fn func() error) error {
	if n == 0 {
		return fn()
	}
	return deep(n-1, fn)
}

// TestCloseWaitsForHandler: from outside, when Close returns no handler runs.
func TestCloseWaitsForHandler(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	entered, leave := make(chan struct{}), make(chan struct{})
	over := false
	p.bw.HandleAM(1, func(m *braid.Message) { close(entered); <-leave; over = true })
	if err := p.a.SendAM(testContext(t), 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	<-entered
	closed := make(chan bool)
	go func() { p.bw.Close(); closed <- over }()
	time.Sleep(10 * time.Millisecond)
	close(leave)
	if !<-closed {
		t.Error("Close returned before the handler did")
	}
	p.a.Abort()
}
