package braid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// tagSizes are sizes around what a message changes its way at.
var tagSizes = []int{0, 1, 7, 8, 31, 32, 33, 1000, 64<<10 - 1, 64 << 10, 64<<10 + 1, 256<<10 - 25, 256 << 10, 256<<10 + 1, 1 << 20, 5<<20 + 3}

// pattern is n bytes that tell where they stand.
func tagBytes(n int, seed byte) []byte {
	const period = 1 << 16
	b := make([]byte, n)
	for i := range b[:min(n, period)] {
		b[i] = byte(i>>8)*31 + byte(i) + seed
	}
	for i := period; i < n; i *= 2 { // under the race detector a loop over all of it takes longer than the test
		copy(b[i:], b[:i])
	}
	return b
}

// TestG3_TagSizes: each size, expected and not, synchronous or not, arrives as it was sent.
func TestG3_TagSizes(t *testing.T) {
	tidy(t)
	for _, o := range []braid.Options{{}, {Owned: true}, {Lanes: 2}, {Limits: braid.Limits{Eager: 1}}, {Limits: braid.Limits{Eager: 1 << 20}}, {Lanes: 2, Limits: braid.Limits{Eager: 1}, Settings: rendezvous(t, "put")}} {
		t.Run(fmt.Sprintf("owned %v lanes %d eager %d put %v", o.Owned, o.Lanes, o.Limits.Eager, o.Settings != nil), func(t *testing.T) {
			ctx := testContext(t)
			o.Transports = nil
			p := connect(t, o, braid.Options{})
			buf := make([]byte, 6<<20)
			for i, n := range tagSizes {
				for _, expected := range []bool{true, false} {
					for _, synchronous := range []bool{true, false} {
						tag, src := uint64(i)<<32|uint64(n), tagBytes(n, byte(i))
						post := p.a.PostTag
						if synchronous {
							post = p.a.PostTagSync
						}
						var recv braid.TagRecv
						var send braid.Request
						clear(buf)
						if expected {
							recv = p.bw.PostRecvTag(buf, tag, braid.ExactTag)
							send = post(tag, src)
						} else {
							send = post(tag, src)
							for deadline := time.Now().Add(20 * time.Second); ; p.aw.Progress() {
								if info, ok := p.bw.ProbeTag(tag, braid.ExactTag); ok {
									if info.Len != n || info.Tag != tag || info.From != p.b {
										t.Fatalf("probed %+v", info)
									}
									break
								}
								if time.Now().After(deadline) {
									t.Fatal("nothing to be probed")
								}
							}
							recv = p.bw.PostRecvTag(buf, tag, braid.ExactTag)
						}
						for o.Owned {
							p.aw.Progress()
							if done, _, _ := recv.Test(); done {
								break
							}
						}
						info, err := recv.Wait(ctx)
						if err != nil || info.Len != n || info.Tag != tag || info.From != p.b || !bytes.Equal(buf[:n], src) {
							t.Fatalf("%d bytes, expected %v, synchronous %v: %+v %v, equal %v", n, expected, synchronous, info, err, bytes.Equal(buf[:n], src))
						}
						if err := send.Wait(ctx); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			if err := p.a.Flush(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTagsBeyondMessageLimit: a tagged message of any size arrives, also one that the peer would not take as a whole, whatever is forced.
func TestTagsBeyondMessageLimit(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	for _, eager := range []int{0, 1 << 20} {
		p := connect(t, braid.Options{Limits: braid.Limits{Eager: eager}}, braid.Options{Limits: braid.Limits{Message: 4 << 10}})
		for _, n := range []int{4 << 10, 4<<10 + 1, 20_000, 300_000} {
			for name, send := range map[string]func(context.Context, uint64, []byte) error{"send": p.a.SendTag, "synchronous": p.a.SendTagSync} {
				buf := make([]byte, n)
				recv := p.bw.PostRecvTag(buf, 1, braid.ExactTag)
				if err := send(ctx, 1, tagBytes(n, 5)); err != nil {
					t.Errorf("%s of %d bytes, eager %d: %v", name, n, eager, err)
					recv.Cancel()
				}
				if _, err := recv.Wait(ctx); err == nil && !bytes.Equal(buf, tagBytes(n, 5)) {
					t.Errorf("%s of %d bytes: other bytes", name, n)
				}
			}
		}
	}
}

// TestTagReceiveErrors: how a receive ended says from whom, where there is one, and nothing of what the peer may have executed: it executes nothing.
func TestTagReceiveErrors(t *testing.T) {
	tidy(t)
	p := connect(t, braid.Options{}, braid.Options{})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	canceled := func(r braid.TagRecv) error {
		r.Cancel()
		_, err := r.Wait(testContext(t))
		return err
	}
	truncated := func(n int) error {
		p.a.PostTag(7, make([]byte, n)).Release()
		_, err := p.bw.RecvTag(testContext(t), make([]byte, 1), 7, braid.ExactTag)
		return err
	}
	_, over := p.b.RecvTag(gone, nil, 1, braid.ExactTag)
	_, waited := p.b.WaitTag(gone, 1, braid.ExactTag)
	_, next := p.b.NextTag(gone, 1, braid.ExactTag)
	for name, err := range map[string]error{
		"context": over, "wait": waited, "next": next, "canceled": canceled(p.b.PostRecvTag(nil, 1, braid.ExactTag)), "canceled wait": canceled(p.b.PostWaitTag(1, braid.ExactTag)),
		"truncated": truncated(8), "truncated, large": truncated(1 << 20),
	} {
		var op *braid.OpError
		if !errors.As(err, &op) || op.Peer != p.b.Addr() || strings.Contains(err.Error(), "executed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.bw.RecvTag(gone, nil, 1, braid.ExactTag); err == nil || err.Error() != "braid: tag receive: context canceled" {
		t.Errorf("from anybody: %v", err)
	}
}

// TestTagTruncated: what has no room is dropped, the true length is told, and nothing else is lost.
func TestTagTruncated(t *testing.T) { schemes(t, tagTruncated) }

func tagTruncated(t *testing.T, set *braid.Settings) {
	ctx := testContext(t)
	p := connect(t, braid.Options{Settings: set}, braid.Options{})
	for _, n := range []int{1, 20, 1000, 64<<10 + 1, 1 << 20} {
		for _, room := range []int{0, n / 2, n - 1} {
			src := tagBytes(n, 3)
			send := p.a.PostTag(7, src)
			last := p.a.PostTag(8, []byte("next"))
			buf := make([]byte, room, n+8)
			info, err := p.bw.RecvTag(ctx, buf, 7, braid.ExactTag)
			if !errors.Is(err, braid.ErrTruncated) || info.Len != n || info.Tag != 7 || !bytes.Equal(buf, src[:room]) {
				t.Fatalf("%d bytes into %d: %+v %v", n, room, info, err)
			}
			if rest := buf[room:cap(buf)]; !bytes.Equal(rest, make([]byte, len(rest))) {
				t.Fatal("written beyond the memory")
			}
			if err := send.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if info, err := p.bw.RecvTag(ctx, make([]byte, 4), 8, braid.ExactTag); err != nil || info.Len != 4 {
				t.Fatal(info, err)
			}
			if err := last.Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTagOrder: a wildcard gets messages in the order of their posting, eager and offered ones alike; a masked one those it is for.
func TestTagOrder(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Lanes: 2}, braid.Options{})
	const n = 200
	var sends []braid.Request
	for i := range uint64(n) {
		sends = append(sends, p.a.PostTag(i, tagBytes(int(i%3)*50_000, byte(i))))
	}
	buf := make([]byte, 100_000)
	got := map[uint64]bool{}
	for i := range uint64(n / 2) { // the odd ones
		info, err := p.bw.RecvTag(ctx, buf, 1, 1)
		if err != nil || info.Tag != 2*i+1 || !bytes.Equal(buf[:info.Len], tagBytes(int(info.Tag%3)*50_000, byte(info.Tag))) {
			t.Fatal(i, info, err)
		}
		got[info.Tag] = true
	}
	for i := range uint64(n / 2) {
		info, err := p.b.RecvTag(ctx, buf, 0, braid.AnyTag)
		if err != nil || info.Tag != 2*i || !bytes.Equal(buf[:info.Len], tagBytes(int(info.Tag%3)*50_000, byte(info.Tag))) {
			t.Fatal(i, info, err)
		}
		got[info.Tag] = true
	}
	for _, s := range sends {
		if err := s.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != n {
		t.Errorf("%d of %d", len(got), n)
	}
}

// TestTagTaken: a message that was taken is nobody else's, and is received once.
func TestTagTaken(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	for _, n := range []int{5, 100_000} {
		first, second := p.a.PostTagSync(1, tagBytes(n, 1)), p.a.PostTagSync(1, tagBytes(n, 2))
		var m *braid.TagMessage
		for m == nil {
			m = p.bw.TakeTag(0, braid.AnyTag)
		}
		buf := make([]byte, n)
		if _, err := p.bw.RecvTag(ctx, buf, 0, braid.AnyTag); err != nil || !bytes.Equal(buf, tagBytes(n, 2)) {
			t.Fatal("not the second one", err)
		}
		if err := second.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if done, err := first.Test(); done {
			t.Fatal("it was not received yet", err)
		}
		buf = make([]byte, m.Len)
		if info, err := m.Recv(ctx, buf); err != nil || info != m.TagInfo || !bytes.Equal(buf, tagBytes(n, 1)) {
			t.Fatal(info, err)
		}
		if err := first.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Recv(ctx, buf); !errors.Is(err, braid.ErrRequest) {
			t.Error(err)
		}
	}
}

// TestTagCancel: a receive that is canceled never writes; a send that is canceled is not received; a cancel that comes too late says so.
func TestTagCancel(t *testing.T) { schemes(t, tagCancel) }

func tagCancel(t *testing.T, set *braid.Settings) {
	ctx := testContext(t)
	p := connect(t, braid.Options{Settings: set}, braid.Options{})
	for _, n := range []int{8, 1 << 20} {
		buf := make([]byte, n)
		r := p.bw.PostRecvTag(buf, 1, braid.ExactTag)
		r.Cancel()
		var op *braid.OpError
		if _, err := r.Wait(ctx); !errors.Is(err, braid.ErrCanceled) || !errors.As(err, &op) || op.Fate != braid.NotExecuted {
			t.Fatal(err)
		}
		short, stop := context.WithTimeout(ctx, time.Millisecond)
		if _, err := p.bw.RecvTag(short, buf, 1, braid.ExactTag); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		stop()
		send := p.a.PostTagSync(1, tagBytes(n, 9))
		for ok := false; !ok; _, ok = p.bw.ProbeTag(1, braid.ExactTag) {
		}
		if !bytes.Equal(buf, make([]byte, n)) {
			t.Fatal("a canceled receive was written to")
		}
		send.Cancel()
		if err := send.Wait(ctx); !errors.Is(err, braid.ErrCanceled) || !errors.As(err, &op) || op.Fate != braid.NotExecuted {
			t.Fatalf("a canceled send: %v", err)
		}
		if info, ok := p.bw.ProbeTag(0, braid.AnyTag); ok {
			t.Fatalf("%+v was withdrawn", info)
		}
		short, stop = context.WithTimeout(ctx, 10*time.Millisecond)
		if err := p.a.SendTagSync(short, 1, tagBytes(n, 9)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		stop()
		late := p.a.PostTagSync(2, tagBytes(n, 4))
		if _, err := p.bw.RecvTag(ctx, buf, 2, braid.ExactTag); err != nil || !bytes.Equal(buf, tagBytes(n, 4)) {
			t.Fatal(err)
		}
		late.Cancel()
		if err := late.Wait(ctx); err != nil {
			t.Fatalf("a cancel that came too late: %v", err)
		}
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Error(err)
	}
	if info, ok := p.bw.ProbeTag(0, braid.AnyTag); ok {
		t.Fatalf("%+v was withdrawn", info)
	}
}
