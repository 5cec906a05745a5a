package braid_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestRefusalAndTheWorkersFlush: a flush of the worker that has heard of a refusal on one endpoint, and waits for another, has told nobody yet. If nobody will be
// told by it, the endpoint's own flush tells; and so it does after one that had nothing to wait for, and was released.
func TestRefusalAndTheWorkersFlush(t *testing.T) {
	for name, c := range map[string]struct {
		before bool                                                                           // the refusal is here before the flush
		flush  func(ctx context.Context, p *pair, ep *braid.Endpoint, waits func()) (e error) // what it says that is told
		told   bool
	}{
		"canceled": {flush: func(ctx context.Context, p *pair, _ *braid.Endpoint, waits func()) error {
			q := p.aw.PostFlush()
			waits()
			q.Cancel()
			return q.Wait(ctx)
		}},
		"released": {flush: func(_ context.Context, p *pair, _ *braid.Endpoint, waits func()) error {
			q := p.aw.PostFlush()
			waits()
			q.Release()
			return nil
		}},
		"its context is over": {flush: func(ctx context.Context, p *pair, _ *braid.Endpoint, _ func()) error {
			soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			return p.aw.Flush(soon)
		}},
		"its context is over, refused before": {before: true, flush: func(ctx context.Context, p *pair, _ *braid.Endpoint, _ func()) error {
			soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			return p.aw.Flush(soon)
		}},
		"it ends": {told: true, flush: func(ctx context.Context, p *pair, _ *braid.Endpoint, waits func()) error {
			q := p.aw.PostFlush()
			waits()
			return p.runs(ctx, t, q)
		}},
		"it ends, refused before": {before: true, told: true, flush: func(ctx context.Context, p *pair, _ *braid.Endpoint, waits func()) error {
			return p.runs(ctx, t, p.aw.PostFlush())
		}},
		"the endpoint's, released at once": {before: true, flush: func(_ context.Context, _ *pair, ep *braid.Endpoint, waits func()) error {
			ep.PostFlush().Release()
			waits()
			return nil
		}},
		"the endpoint's, with nothing else to wait for": {before: true, told: true, flush: func(ctx context.Context, _ *pair, ep *braid.Endpoint, waits func()) error {
			return ep.Flush(ctx)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			p, ep, key, slow := refusingBeside(ctx, t)
			waits := func() { time.Sleep(50 * time.Millisecond) }
			p.a.PostPut(make([]byte, 8), slow, 0).Release() // a flush of the worker waits for that
			ep.PostPut(make([]byte, 8), key, 0).Release()
			if c.before {
				waits()
			}
			if err := c.flush(ctx, p, ep, waits); c.told && !errors.Is(err, braid.ErrAccess) || !c.told && errors.Is(err, braid.ErrAccess) {
				t.Fatalf("told %v: %v", c.told, err)
			}
			if err := ep.Flush(ctx); c.told && err != nil || !c.told && !errors.Is(err, braid.ErrAccess) {
				t.Errorf("told before: %v; the next flush of the endpoint says %v", c.told, err)
			}
			if err := ep.Flush(ctx); err != nil {
				t.Errorf("and the one behind it: %v", err)
			}
		})
	}
}

// refusingBeside is a still pair, with an endpoint of its first side to a third node, memory there that is gone, and memory of the second side.
func refusingBeside(ctx context.Context, t *testing.T) (p *pair, ep *braid.Endpoint, key, slow braid.RKey) {
	t.Helper()
	p = still(ctx, t)
	other := mustOpen(t, braid.Options{})
	ln, err := newWorker(t, other).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ep, err = p.aw.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	gone := target(t, other, 8)
	key, slow = gone.Key(braid.Write), registered(t, p.bn, 8)
	if err := gone.Deregister(); err != nil {
		t.Fatal(err)
	}
	return p, ep, key, slow
}
