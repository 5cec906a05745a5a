package braid_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestHandlerMeetsCaller: a handler may wait for another goroutine that waits for an operation of the same worker.
func TestHandlerMeetsCaller(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	meet := make(chan struct{})
	p.aw.HandleAM(1, func(*braid.Message) { meet <- struct{}{} })
	p.bw.HandleAM(1, func(*braid.Message) {})
	if err := p.b.SendAM(ctx, 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // the handler waits by now
	for range 20 {
		if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal("flush beside a handler that waits:", err)
		}
		time.Sleep(3 * time.Millisecond) // not answered in the turns that a caller makes himself
	}
	<-meet
}

// TestSlowHandlers: a worker whose handlers are slow answers its peers all the same.
func TestSlowHandlers(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	var lost atomic.Int32
	events := func(e braid.Event) {
		if e.Kind == braid.LaneDown {
			lost.Add(1)
		}
	}
	p := connect(t, braid.Options{}, braid.Options{OnEvent: events, Times: braid.Times{Peer: 300 * time.Millisecond, Keepalive: 50 * time.Millisecond}})
	var handled atomic.Int32
	p.aw.HandleAM(1, func(*braid.Message) {
		time.Sleep(time.Millisecond)
		handled.Add(1)
	})
	const messages = 1000
	for range messages {
		if err := p.b.SendAM(ctx, 1, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.b.Flush(ctx); err != nil {
		t.Error(err)
	}
	if !eventually(func() bool { return handled.Load() == messages }) {
		t.Errorf("%d of %d were handled", handled.Load(), messages)
	}
	if lost.Load() != 0 {
		t.Errorf("%d lanes were taken for lost meanwhile", lost.Load())
	}
}

// TestHandlerPanics: who recovers from the panic of a handler has lost nothing but that call.
func TestHandlerPanics(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Owned: true}, braid.Options{})
	var order []byte
	p.aw.HandleAM(1, func(m *braid.Message) {
		order = append(order, m.Payload()[0])
		if len(order)%2 == 1 {
			panic("a handler's")
		}
	})
	const messages = 50
	for i := range byte(messages) {
		if err := p.b.SendAM(ctx, 1, nil, []byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	panics := 0
	if !eventually(func() bool {
		defer func() {
			if recover() != nil {
				panics++
			}
		}()
		p.aw.Progress()
		return len(order) == messages
	}) {
		t.Fatalf("%d of %d messages were handled", len(order), messages)
	}
	for i, n := range order {
		if int(n) != i {
			t.Fatalf("out of order: %v", order)
		}
	}
	if panics != messages/2 {
		t.Errorf("%d panics", panics)
	}
}

// TestWorkerCloseUnderHandlers: a close waits for the handlers that run, and the stand-ins of who runs them.
func TestWorkerCloseUnderHandlers(t *testing.T) {
	tidy(t)
	for range 20 {
		ctx := testContext(t)
		p := connect(t, braid.Options{}, braid.Options{})
		p.aw.HandleAM(1, func(*braid.Message) { time.Sleep(4 * time.Millisecond) })
		for range 10 {
			if err := p.b.SendAM(ctx, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Millisecond)
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for p.a.Flush(ctx) == nil {
				}
			})
		}
		time.Sleep(2 * time.Millisecond)
		if err := p.aw.Close(); err != nil {
			t.Error(err)
		}
		callers.Wait()
	}
}
