package braid_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestHandlersThatCallWithAFullBacklog: more messages come than may wait, and each handler sends one of its own and waits until
// that is executed. The sender keeps to the limit, so that the receiver never has to stop reading.
func TestHandlersThatCallWithAFullBacklog(t *testing.T) {
	const messages = 200
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Limits: braid.Limits{Backlog: 64 << 10}})
	back, failed := make(chan int, messages), make(chan error, messages)
	p.aw.HandleAM(2, func(m *braid.Message) { back <- len(m.Payload()) })
	p.bw.HandleAM(1, func(m *braid.Message) {
		failed <- errors.Join(m.Endpoint().SendAM(ctx, 2, nil, m.Payload()[:8]), m.Endpoint().Flush(ctx))
	})
	payload := make([]byte, 8<<10)
	for range messages {
		if err := p.a.SendAM(ctx, 1, nil, payload); err != nil {
			t.Fatal(err)
		}
	}
	for range messages {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		<-back
	}
}

// TestBacklogOfOneLargeMessage: a message that is larger than all that may wait is sent when nothing else does.
func TestBacklogOfOneLargeMessage(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Limits: braid.Limits{Backlog: 10_000}})
	got := make(chan int, 100)
	p.bw.HandleAM(1, func(m *braid.Message) { time.Sleep(time.Millisecond); got <- len(m.Payload()) })
	sizes := []int{1, 9_000, 50_000, 0, 700_000, 9_743, 9_744, 9_745, 20_000}
	for _, n := range sizes {
		if err := p.a.SendAM(ctx, 1, nil, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range sizes {
		if m := <-got; m != n {
			t.Fatalf("%d bytes instead of %d", m, n)
		}
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}
