package braid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestSleep: it ends with an arrival, a wake-up, and the context.
func TestSleep(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}})
	sleep := func(ctx context.Context) (err error) { // a wake-up may be for nothing
		for err == nil {
			for o.aw.Progress()+o.bw.Progress() > 0 {
			}
			err = o.aw.Sleep(ctx)
		}
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := sleep(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("slept until the context was over: %v", err)
	}
	if d := time.Since(begin); d < 45*time.Millisecond || d > patience/2 {
		t.Errorf("slept for %v", d)
	}
	o.aw.Wake()
	if err := o.aw.Sleep(testContext(t)); err != nil {
		t.Error("woken before:", err)
	}
	time.AfterFunc(10*time.Millisecond, o.aw.Wake)
	if err := o.aw.Sleep(testContext(t)); err != nil {
		t.Error("woken meanwhile:", err)
	}
	got := false
	o.aw.HandleAM(1, func(*braid.Message) {
		got = true
		if err := o.aw.Sleep(testContext(t)); !errors.Is(err, braid.ErrInCallback) {
			t.Error("Sleep in a handler:", err)
		}
	})
	o.b.PostAM(1, nil, nil).Release()
	o.bw.Progress()
	for end := time.Now().Add(patience); !got && time.Now().Before(end); o.aw.Progress() {
		if err := o.aw.Sleep(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	if !got {
		t.Error("no message")
	}
	o.aw.Close()
	if err := o.aw.Sleep(testContext(t)); !errors.Is(err, braid.ErrClosed) {
		t.Error("Sleep of a closed worker:", err)
	}
}

// TestSharedHasNoDescriptor: what only an owner can do says so.
func TestSharedHasNoDescriptor(t *testing.T) {
	p := connect(t, braid.Options{}, braid.Options{})
	if fd, err := p.aw.EventFD(); fd >= 0 || !errors.Is(err, braid.ErrShared) {
		t.Errorf("EventFD: %d, %v", fd, err)
	}
	if err := p.aw.Sleep(testContext(t)); !errors.Is(err, braid.ErrShared) {
		t.Errorf("Sleep: %v", err)
	}
	if p.aw.Arm() {
		t.Error("Arm says that nothing is to be done, and nobody would wake this one")
	}
	p.aw.Wake() // harmless
}

// TestCancelWhileAsleep: a context that is over ends a wait that has slept for long, soon.
func TestCancelWhileAsleep(t *testing.T) {
	for _, owned := range []bool{true, false} {
		for _, policy := range []braid.WaitPolicy{braid.WaitAdaptive, braid.WaitPoll, braid.WaitSleep} {
			opts := braid.Options{Owned: owned, Wait: policy, Times: braid.Times{Keepalive: time.Hour}}
			n, err := braid.Open(opts)
			if err != nil {
				t.Fatal(err)
			}
			ln, err := newWorker(t, n).Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			const after = 100 * time.Millisecond
			begin := time.Now()
			time.AfterFunc(after, cancel)
			_, err = ln.Accept(ctx)
			if took := time.Since(begin); !errors.Is(err, context.Canceled) || took < after || took > patience/2 {
				t.Errorf("owned %v, %v: %v after %v", owned, policy, err, took)
			}
			n.Close()
		}
	}
}
