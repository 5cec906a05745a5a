package braid

import (
	"context"
	"testing"
	"time"
)

// TestUnwatchUnderASleeper: who finds that others poll, and comes too late to say so, does not take the sockets from under somebody who
// has gone to sleep on them meanwhile.
func TestUnwatchUnderASleeper(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	quiet := Options{Times: Times{Keepalive: time.Hour}}
	open := func() *Worker {
		n, err := Open(quiet)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		return n.Worker()
	}
	aw, bw := open(), open()
	got := make(chan struct{}, 1)
	aw.HandleAM(1, func(*Message) { got <- struct{}{} })
	ln, err := bw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := aw.Dial(ctx, ln.Addr()); err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	asleep := func() bool { at := aw.crank.WakeAt(); return at < 0 || at > int64(clock()+time.Minute) } // until something arrives
	for rest := 0; rest < 50; rest++ {
		if ctx.Err() != nil {
			t.Fatal("the keeper does not come to rest")
		}
		if !asleep() {
			rest = 0
		}
		time.Sleep(time.Millisecond)
	}
	aw.crank.Unwatch()
	if err := b.SendAM(ctx, 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-got:
	case <-ctx.Done():
		t.Error("nobody woke")
	}
}
