package braid_test

import (
	"context"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// While a worker is polled nobody waits for its descriptors, and they don't tell of arrivals. These tests poll for a while, stop, and wait
// for one message in each of the ways there are.

// polling so many turns is long enough for any worker to notice that it is polled.
const polling = 2000

// TestSleepAfterPolling: an owner who polled and now sleeps is woken, whether the message comes before or while he sleeps.
func TestSleepAfterPolling(t *testing.T) {
	for _, before := range []bool{true, false} {
		o := connectPolled(t, braid.Options{Owned: true, Times: braid.Times{Keepalive: time.Hour}})
		got := false
		o.aw.HandleAM(1, func(*braid.Message) { got = true })
		for range polling {
			o.turn()
		}
		sent := make(chan struct{})
		send := func() {
			o.b.PostAM(1, nil, nil).Release()
			o.bw.Progress()
			close(sent)
		}
		if before {
			send()
		} else {
			time.AfterFunc(20*time.Millisecond, send)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		for !got && ctx.Err() == nil {
			for ctx.Err() == nil && o.aw.Sleep(ctx) == nil && o.aw.Progress() == 0 {
			}
		}
		cancel()
		if !got {
			t.Errorf("sent before the sleep: %v: nobody woke", before)
		}
		<-sent
	}
}

// TestWaitAfterPolling: so does a blocking call that comes to sleep.
func TestWaitAfterPolling(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}, Wait: braid.WaitSleep}) // no probes, which would wake it
	for range polling {
		o.turn()
	}
	o.bw.HandleAM(1, func(*braid.Message) {})
	o.a.PostAM(1, nil, nil).Release()
	answered := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { // later than he looks by himself
		defer close(answered)
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			o.bw.Progress()
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := o.a.Flush(ctx); err != nil {
		t.Error(err)
	}
	<-answered
}

// TestKeeperAfterPolling: in a Shared worker the library's goroutine is back on watch when who polled stops, without a word.
func TestKeeperAfterPolling(t *testing.T) {
	quiet := braid.Options{Times: braid.Times{Keepalive: time.Hour}}
	p := connect(t, quiet, quiet)
	got := make(chan struct{}, 1<<16)
	p.aw.HandleAM(1, func(*braid.Message) { got <- struct{}{} })
	for range 3 {
		for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); p.aw.Progress() {
			if len(got) < 100 { // arrivals wake the keeper, which finds that others poll
				p.b.PostAM(1, nil, nil).Release()
			}
		}
		time.Sleep(20 * time.Millisecond)
		for len(got) > 0 {
			<-got
		}
		p.b.PostAM(1, nil, nil).Release()
		select {
		case <-got:
		case <-time.After(patience):
			t.Fatal("the keeper did not wake")
		}
	}
}
