package braid_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestWaitTag: who waits for a message learns what it is, small, kept or offered, and leaves it for whoever receives it; all who wait for it learn of it.
func TestWaitTag(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	for _, n := range []int{0, 8, 5000, 300_000} {
		waits := []braid.TagRecv{p.bw.PostWaitTag(0x10, 0xf0), p.b.PostWaitTag(0x13, braid.ExactTag), p.bw.PostWaitTag(0, braid.AnyTag)}
		other := p.bw.PostWaitTag(0x23, braid.ExactTag)
		src := tagBytes(n, byte(n))
		sent := p.a.PostTagSync(0x13, src)
		for i, q := range waits {
			if info, err := q.Wait(ctx); err != nil || info != (braid.TagInfo{Tag: 0x13, Len: n, From: p.b}) {
				t.Fatalf("%d bytes, %d: %+v, %v", n, i, info, err)
			}
		}
		if done, _, _ := other.Test(); done {
			t.Errorf("%d bytes: it is not what was waited for", n)
		}
		if info, err := p.bw.WaitTag(ctx, 0x13, braid.ExactTag); err != nil || info.Len != n { // it is still there
			t.Fatal(info, err)
		}
		if done, _ := sent.Test(); done {
			t.Errorf("%d bytes: seen is not received", n)
		}
		if all := slices.Collect(p.bw.WaitingTags()); len(all) != 1 {
			t.Errorf("%d bytes: %v wait", n, all)
		}
		buf := make([]byte, n)
		if info, err := p.bw.RecvTag(ctx, buf, 0x13, braid.ExactTag); err != nil || info.Len != n || !bytes.Equal(buf, src) {
			t.Fatalf("%d bytes: %+v, %v", n, info, err)
		}
		if err := sent.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		other.Cancel()
		if _, err := other.Wait(ctx); !errors.Is(err, braid.ErrCanceled) {
			t.Error(err)
		}
	}
}

// TestWaitTagTakesNothing: a message that a receive was posted for goes there, before and after who waits for one; he sees the first that no receive takes.
func TestWaitTagTakesNothing(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	buf := [2][]byte{make([]byte, 1), make([]byte, 1)}
	first := p.bw.PostRecvTag(buf[0], 0, braid.AnyTag)
	q := p.bw.PostWaitTag(0, braid.AnyTag)
	second := p.bw.PostRecvTag(buf[1], 0, braid.AnyTag)
	for i := range byte(3) {
		if err := p.a.SendTag(ctx, uint64(i), []byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range []braid.TagRecv{first, second, q} {
		if info, err := r.Wait(ctx); err != nil || info.Tag != uint64(i) || i < 2 && buf[i][0] != byte(i) {
			t.Errorf("%d: %+v, %v", i, info, err)
		}
	}
}

// TestWaitTagEnds: who waits for a message goes when his time is over, or when the endpoint is, or the worker; what comes later is there for others.
func TestWaitTagEnds(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := p.bw.WaitTag(short, 1, braid.ExactTag); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := p.a.SendTag(ctx, 1, []byte("late")); err != nil {
		t.Fatal(err)
	}
	if info, err := p.b.RecvTag(ctx, make([]byte, 8), 1, braid.ExactTag); err != nil || info.Len != 4 {
		t.Fatal(info, err)
	}
	of, any := p.b.PostWaitTag(1, braid.ExactTag), p.bw.PostWaitTag(1, braid.ExactTag)
	p.a.Abort()
	if _, err := of.Wait(ctx); !errors.Is(err, braid.ErrPeerFailed) {
		t.Error(err)
	}
	if done, _, _ := any.Test(); done {
		t.Error("another endpoint may still send one")
	}
	p.bw.Close()
	if _, err := any.Wait(ctx); !errors.Is(err, braid.ErrClosed) {
		t.Error(err)
	}
	if _, err := p.bw.WaitTag(ctx, 1, braid.ExactTag); !errors.Is(err, braid.ErrClosed) {
		t.Error(err)
	}
}

// TestWorkersComeAndGo: a node forgets the workers that are closed, by name and by memory.
func TestWorkersComeAndGo(t *testing.T) {
	tidy(t)
	n := mustOpen(t, braid.Options{})
	kept := newWorker(t, n)
	for range 20 {
		w := newWorker(t, n)
		if all := slices.Collect(n.Workers()); !slices.Contains(all, w) || !slices.Contains(all, kept) {
			t.Fatal(all)
		}
		w.Close()
		w.Close()
	}
	if all := slices.Collect(n.Workers()); len(all) != 1 || all[0] != kept {
		t.Fatal(all)
	}
	n.Close()
	if all := slices.Collect(n.Workers()); len(all) != 0 {
		t.Fatal(all)
	}
}
