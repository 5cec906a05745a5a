package braid_test

import (
	"context"
	"errors"
	"testing"

	"github.com/openbraid/braid"
)

// TestBlockingInsideOwned: in a handler of an Owned worker each call that may block is refused, before it does anything: whoever
// posts the operation instead, as the error says, has it done once. Also those that would have ended at once.
func TestBlockingInsideOwned(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true})
	seen := 0
	o.bw.HandleAM(2, func(*braid.Message) { seen++ })
	got := map[string]error{}
	var kept braid.Request
	o.aw.HandleAM(1, func(m *braid.Message) {
		ctx, ep, big := context.Background(), m.Endpoint(), make([]byte, 1<<20)
		got["small SendAM"] = ep.SendAM(ctx, 2, nil, nil)
		got["SendAM"] = ep.SendAM(ctx, 2, nil, big)
		got["OfferAM"] = ep.OfferAM(ctx, 2, nil, big)
		got["Recv"] = m.Recv(ctx, big)
		got["Put"] = ep.Put(ctx, big, o.mem.Key(braid.Write), 0)
		got["Flush"] = ep.Flush(ctx)
		got["Close"] = ep.Close(ctx)
		kept = ep.PostAM(2, nil, big)
		got["Wait"] = kept.Wait(ctx)
		got["Sleep"] = o.aw.Sleep(ctx)
		_, got["Dial"] = o.aw.Dial(ctx, "127.0.0.1:1")
		ln, err := o.aw.Listen("127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return
		}
		_, got["Accept"] = ln.Accept(ctx)
	})
	o.b.PostAM(1, nil, nil).Release()
	if !eventually(func() bool { o.turn(); return seen > 0 }) {
		t.Fatal("what was posted did not arrive")
	}
	if len(got) != 11 {
		t.Errorf("%d calls came back", len(got))
	}
	for call, err := range got {
		var e *braid.OpError
		if !errors.Is(err, braid.ErrInCallback) || !errors.As(err, &e) || e.Fate != braid.NotExecuted {
			t.Errorf("%s: %v", call, err)
		}
	}
	if !eventually(func() bool { o.turn(); done, err := kept.Test(); return done && err == nil }) {
		t.Error("the request that Wait refused did not end well")
	}
	kept.Release()
	for range 100 {
		o.turn()
	}
	if seen != 1 {
		t.Errorf("%d messages arrived, one was posted", seen)
	}
}
