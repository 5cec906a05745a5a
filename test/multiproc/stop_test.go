package multiproc

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestA8_SendToStopped: a message to a stopped process ends with its context, its buffer is the caller's again, and the
// endpoint is as good as before once the process goes on.
func TestA8_SendToStopped(t *testing.T) {
	ctx := begin(t)
	var events tally
	peer := start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
	ep := dial(t, open(t, braid.Options{OnEvent: events.note}), peer.expect("addr"))
	peer.expect("accepted")
	peer.signal(syscall.SIGSTOP)

	payload := pattern(make([]byte, 64<<20), 4)
	header := checkedHeader(7, payload)
	since := time.Now()
	err := ep.SendAM(within(t, 100*time.Millisecond), amCheck, header, payload)
	if took := time.Since(since); took > bound {
		t.Errorf("SendAM took %v", took)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("SendAM: %v, want %v", err, context.DeadlineExceeded)
	}
	var op *braid.OpError
	if !errors.As(err, &op) {
		t.Fatalf("SendAM: %v: no *OpError", err)
	}
	clear(payload) // the receiver would notice a message that is made of this
	peer.signal(syscall.SIGCONT)

	if op.Fate == braid.Unknown { // a part was on its way: it arrives whole
		if n := peer.number("checked"); n != 7 {
			t.Errorf("message %d", n)
		}
	}
	small := []byte("and again")
	if err := ep.SendAM(ctx, amCheck, checkedHeader(8, small), small); err != nil {
		t.Fatal(err)
	}
	if n := peer.number("checked"); n != 8 {
		t.Errorf("message %d came, want 8", n)
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
	if n := events.of(braid.Failed); n != 0 {
		t.Errorf("%d times failed", n)
	}
}

// TestA14_StoppedForAWhile: a process that stands still for less than the bound has not failed.
func TestA14_StoppedForAWhile(t *testing.T) {
	ctx := begin(t)
	var events tally
	peer := start(t, job{Role: "serve", Addr: "127.0.0.1:0"})
	times := braid.Times{Keepalive: 50 * time.Millisecond, Peer: 10 * time.Second}
	ep := dial(t, open(t, braid.Options{Times: times, OnEvent: events.note}), peer.expect("addr"))
	peer.expect("accepted")
	for i := range uint64(3) {
		peer.signal(syscall.SIGSTOP)
		text := []byte("patience")
		sent := ep.PostAM(amCheck, checkedHeader(i, text), text)
		time.Sleep(300 * time.Millisecond) // the time for which it stands still; a probe of a lane waits 10 ms
		peer.signal(syscall.SIGCONT)
		if err := sent.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if err := ep.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if n := peer.number("checked"); n != int(i) {
			t.Errorf("message %d came, want %d", n, i)
		}
	}
	if n := events.of(braid.Failed) + events.of(braid.Suspended); n != 0 {
		t.Errorf("%d times suspended or failed", n)
	}
	if err := ep.Close(ctx); err != nil {
		t.Error(err)
	}
}
