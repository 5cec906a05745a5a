package braid_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
)

// TestG10_Receipt: each operation says how it went, on both sides: protocol, bytes, and lanes by the names under which Endpoint.Lanes has them. TestD18 has the protocols of all sizes.
func TestG10_Receipt(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	p := connect(t, braid.Options{Rails: rails}, braid.Options{Rails: rails})
	p.bw.HandleAM(1, func(*braid.Message) {})
	mem, err := p.bn.Register(make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	lanes := func(ep *braid.Endpoint) (names []string) {
		for _, l := range ep.Lanes() {
			names = append(names, l.Instance)
		}
		return names
	}
	key, word, large := mem.Key(braid.Read|braid.Write), mem.Key(braid.Atomic), make([]byte, 1<<20)
	room := make([]byte, 1<<20) // of receives
	for _, c := range []struct {
		name, protocol string
		bytes          int
		post           func() braid.Request
	}{
		{"short put", "eager copied", 8, func() braid.Request { return p.a.PostPut(large[:8], key, 0) }},
		{"short put with a signal", "eager copied", 8, func() braid.Request { return p.a.PostPutSignal(large[:8], key, 0, braid.Signal{Key: key}) }},
		{"put", "spread frames", 1 << 20, func() braid.Request { return p.a.PostPut(large, key, 0) }},
		{"get", "request and answer", 1 << 20, func() braid.Request { return p.a.PostGet(room, key, 0) }},
		{"add", "eager copied", 0, func() braid.Request { return p.a.Word64(word, 0).PostAdd(1) }},
		{"fetch", "request and answer", 0, func() braid.Request { return p.a.Word64(word, 0).PostFetchAdd(1).Request }},
		{"message", "striped parts", 1 << 20, func() braid.Request { return p.a.PostAM(1, nil, large) }},
		{"tagged message", "rendezvous by get", 1 << 20, func() braid.Request { return p.a.PostTag(3, large) }},
		{"its receive", "rendezvous by get", 1 << 20, func() braid.Request { return p.bw.PostRecvTag(room, 3, braid.ExactTag).Request }},
		{"short tagged message", "eager copied", 8, func() braid.Request { return p.a.PostTag(4, large[:8]) }},
	} {
		r := c.post()
		if c.protocol == "rendezvous by get" && c.name != "its receive" {
			defer func() { // it ends with its receive
				if i, err := r.WaitInfo(ctx); err != nil || i.Protocol != c.protocol || i.Bytes != uint64(c.bytes) {
					t.Errorf("%s: %v, %v", c.name, i, err)
				}
			}()
			continue
		}
		i, err := r.WaitInfo(ctx)
		on := lanes(p.a)
		if c.name == "its receive" {
			on = lanes(p.b)
		}
		if err != nil || i.Protocol != c.protocol || i.Bytes != uint64(c.bytes) || i.Replayed != 0 || i.Frames == 0 || len(i.Lanes()) == 0 ||
			slices.ContainsFunc(i.Lanes(), func(l string) bool { return !slices.Contains(on, l) }) {
			t.Errorf("%s: %v (of %v), %v; want %s", c.name, i, on, err, c.protocol)
		}
		if _, ok := r.Info(); ok && i.Frames > 1 {
			t.Errorf("%s: a request that was given back says how it went", c.name)
		}
	}
	i, err := p.bw.PostRecvTag(room, 4, braid.ExactTag).WaitInfo(ctx)
	if err != nil || i.Protocol != "eager copied" || i.Bytes != 8 || i.Frames != 0 || !strings.Contains(i.String(), "8 bytes") {
		t.Error("the receive of a short message:", i, err)
	}
}

// TestG10_NoReceipt: what has no way, was refused, or was not waited for to its end says nothing.
func TestG10_NoReceipt(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	if _, ok := p.a.PostFlush().Info(); ok {
		t.Error("a flush says on which lanes it went")
	}
	nothing := func(what string, i braid.Info) {
		if i.Protocol != "" || i.Frames != 0 || i.Lanes() != nil || i.String() != "not known" {
			t.Errorf("%s says %v", what, i)
		}
	}
	i, err := p.a.PostFlush().WaitInfo(ctx)
	if nothing("a flush that has ended", i); err != nil {
		t.Error(err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	i, err = p.bw.PostRecvTag(nil, 5, braid.ExactTag).WaitInfo(over)
	if nothing("what nobody waited for", i); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, ok := p.a.PostPut(nil, braid.RKey{}, 0).Info(); ok {
		t.Error("what was refused says how it went")
	}
}

// TestG10_Retries: what the operations say was posted again is, all together, what the endpoint says; and each names the lanes that it was on first and last.
func TestG10_Retries(t *testing.T) {
	tidy(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	faults := injector(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	times := braid.Times{RedialMin: time.Millisecond, RedialMax: 20 * time.Millisecond, Probe: 5 * time.Millisecond, Lost: 20 * time.Millisecond}
	p := connect(t, braid.Options{Rails: rails, Faults: faults, Times: times}, braid.Options{Rails: rails, Times: times})
	mem, err := p.bn.Register(make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	key, src := mem.Key(braid.Write), bytes.Repeat([]byte("again"), 200_000)
	replayed := 0
	for round := 0; replayed == 0 && ctx.Err() == nil; round++ {
		var all []braid.Request
		before := p.a.Stats().ReplayedFrames
		for i := range 24 {
			if i == 8 {
				faults.Cut(rails[round%2], fault.Kind(round/2%2), 2*time.Millisecond)
			}
			faults.Advance()
			all = append(all, p.a.PostPut(src, key, 0))
		}
		for done := false; !done; {
			faults.Advance()
			c, stop := context.WithTimeout(ctx, 5*time.Millisecond)
			q := p.a.PostFlush()
			done = q.Wait(c) == nil
			stop()
			if ctx.Err() != nil {
				t.Fatal("no flush in a minute")
			}
		}
		for _, r := range all {
			i, ok := r.Info()
			if !ok || i.Protocol != "spread frames" && i.Protocol != "eager fragments" || i.Bytes != uint64(len(src)) || i.Replayed > 0 && len(i.Lanes()) < 2 {
				t.Errorf("%v, %v", i, ok)
			}
			replayed += i.Replayed
			if err := r.Wait(ctx); err != nil {
				t.Error(err)
			}
		}
		if n := p.a.Stats().ReplayedFrames - before; int(n) != replayed {
			t.Fatalf("%d frames were posted again, by the endpoint's count; the operations say %d", n, replayed)
		}
	}
}
