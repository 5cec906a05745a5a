package braid_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/openbraid/braid"
)

// TestManyRefusals: messages for which there is no handler cost the sender an error, of the next flush, and nobody a lane, however many
// come at a time.
func TestManyRefusals(t *testing.T) {
	for _, mode := range []braid.ErrorMode{braid.Failover, braid.Peer, braid.None} {
		var down atomic.Int32
		onEvent := func(e braid.Event) {
			if e.Kind == braid.LaneDown || e.Kind == braid.Failed {
				down.Add(1)
			}
		}
		p := connect(t, braid.Options{ErrorMode: mode, OnEvent: onEvent, Lanes: 1}, braid.Options{OnEvent: onEvent})
		refuseMany(t, p.a)
		if n := down.Load(); n > 0 {
			t.Errorf("mode %v: %d lanes were lost", mode, n)
		}
	}
}

// TestManyRefusalsToSelf: nor within one worker.
func TestManyRefusalsToSelf(t *testing.T) {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	w := newWorker(t, n)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ep, err := w.Dial(testContext(t), ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if l := ep.Lanes(); len(l) == 0 || l[0].Local != l[0].Remote && l[0].Local[:5] != "self:" {
		t.Fatalf("not within the worker: %+v", l)
	}
	refuseMany(t, ep)
}

func refuseMany(t *testing.T, ep *braid.Endpoint) {
	t.Helper()
	ctx := testContext(t)
	for i := range 40_000 {
		if err := ep.SendAM(ctx, 1001, nil, []byte("abc")); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	if err := ep.Flush(testContext(t)); !errors.Is(err, braid.ErrHandler) {
		t.Errorf("flush after refused messages: %v", err)
	}
	if err := ep.Flush(testContext(t)); err != nil {
		t.Errorf("the next flush: %v", err)
	}
}
