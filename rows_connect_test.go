package braid_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// Connecting: what users of other libraries have met.

// TestC1_ClientFirst: a client that dials before there is a server is told so each time, and gets in as soon as there is one; what failed before costs nothing later.
func TestC1_ClientFirst(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	client, server := newWorker(t, mustOpen(t, braid.Options{})), newWorker(t, mustOpen(t, braid.Options{}))
	for range 5 {
		if _, err := client.Dial(ctx, addr); !errors.Is(err, braid.ErrDial) {
			t.Fatal(err)
		}
	}
	dialed := make(chan *braid.Endpoint)
	go func() {
		defer close(dialed)
		for ctx.Err() == nil {
			if ep, err := client.Dial(ctx, addr); err == nil {
				dialed <- ep
				return
			}
		}
	}()
	l, err := server.Listen(addr)
	if err != nil {
		t.Skipf("another program has taken the port meanwhile: %v", err)
	}
	ep := <-dialed
	if ep == nil {
		t.Fatal("it does not get in")
	}
	if _, err := l.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := client.Dial(ctx, addr); err != nil {
			t.Fatal("later:", err)
		}
	}
}

// TestC9_AllToAll: eight nodes, each of which dials all others at once, in an order of its own: each pair gets its two endpoints, and what is said on each is heard at the other end.
func TestC9_AllToAll(t *testing.T) {
	tidy(t)
	const nodes, rounds = 8, 5
	for round := range rounds {
		ctx := testContext(t)
		var heard [nodes][nodes]atomic.Int32
		workers, addrs := make([]*braid.Worker, nodes), make([]string, nodes)
		for i := range workers {
			workers[i] = newWorker(t, mustOpen(t, braid.Options{}))
			workers[i].HandleAM(1, func(m *braid.Message) { heard[m.Payload()[0]][i].Add(1) })
			ln, err := workers[i].Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			addrs[i] = ln.Addr()
		}
		var all sync.WaitGroup
		for i, w := range workers {
			for _, k := range rand.New(rand.NewPCG(uint64(round), uint64(i))).Perm(nodes) {
				if k == i {
					continue
				}
				all.Go(func() {
					ep, err := w.Dial(ctx, addrs[k])
					if err == nil {
						err = ep.SendAM(ctx, 1, nil, []byte{byte(i)})
					}
					if err == nil {
						err = ep.Close(ctx)
					}
					if err != nil {
						t.Errorf("round %d, %d to %d: %v", round, i, k, err)
					}
				})
			}
		}
		all.Wait()
		for i := range heard {
			for k := range heard[i] {
				if want := int32(min(1, max(i-k, k-i))); !eventually(func() bool { return heard[i][k].Load() == want }) {
					t.Errorf("round %d: %d heard %d %d times", round, k, i, heard[i][k].Load())
				}
			}
		}
		for _, w := range workers {
			w.Node().Close()
		}
	}
}

// TestC17_FirstOperation: whatever the first operation of an endpoint is, it works while further lanes are still being set up.
func TestC17_FirstOperation(t *testing.T) {
	tidy(t)
	rails := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	src := tagBytes(100_000, 3)
	for name, first := range map[string]func(ctx context.Context, p *pair, key braid.RKey) error{
		"put": func(ctx context.Context, p *pair, key braid.RKey) error { return p.a.Put(ctx, src, key, 0) },
		"get": func(ctx context.Context, p *pair, key braid.RKey) error {
			return p.a.Get(ctx, make([]byte, len(src)), key, 0)
		},
		"fetch-add": func(ctx context.Context, p *pair, key braid.RKey) error {
			_, err := p.a.Word64(key, 0).FetchAdd(ctx, 1)
			return err
		},
		"add": func(ctx context.Context, p *pair, key braid.RKey) error { return p.a.Word64(key, 0).Add(ctx, 1) },
		"put with a signal": func(ctx context.Context, p *pair, key braid.RKey) error {
			return p.a.PutSignal(ctx, src, key, 8, braid.Signal{Key: key, Value: 1})
		},
		"message": func(ctx context.Context, p *pair, _ braid.RKey) error { return p.a.SendAM(ctx, 1, nil, src) },
		"tagged message": func(ctx context.Context, p *pair, _ braid.RKey) error {
			r := p.bw.PostRecvTag(make([]byte, len(src)), 1, braid.ExactTag)
			if err := p.a.SendTag(ctx, 1, src); err != nil {
				return err
			}
			_, err := r.Wait(ctx)
			return err
		},
		"of the side that accepts": func(ctx context.Context, p *pair, _ braid.RKey) error { return p.b.SendAM(ctx, 1, nil, src) },
	} {
		ctx := testContext(t)
		p := connect(t, braid.Options{Rails: rails, Times: braid.Times{DialWait: time.Nanosecond}}, braid.Options{Rails: rails})
		p.aw.HandleAM(1, func(*braid.Message) {})
		p.bw.HandleAM(1, func(*braid.Message) {})
		mem, err := p.bn.Register(make([]byte, len(src)+8))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(first(ctx, p, mem.Key(braid.Read|braid.Write|braid.Atomic)), p.a.Flush(ctx), p.b.Flush(ctx)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !eventually(func() bool { return len(p.a.Lanes()) == len(rails) }) {
			t.Errorf("%s: %d lanes", name, len(p.a.Lanes()))
		}
		p.an.Close()
		p.bn.Close()
	}
}

// TestC18_NoEstimates: a worker is told nothing of how many endpoints it will have: it has one, then ten, then some hundreds, and each works.
func TestC18_NoEstimates(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Lanes: 1}, braid.Options{Lanes: 1})
	var heard atomic.Int32
	p.bw.HandleAM(1, func(*braid.Message) { heard.Add(1) })
	eps := []*braid.Endpoint{p.a}
	said := int32(0)
	for _, n := range []int{1, 10, 300} {
		for len(eps) < n {
			ep, err := p.aw.Dial(ctx, p.ln.Addr())
			if err != nil {
				t.Fatalf("endpoint %d: %v", len(eps), err)
			}
			eps = append(eps, ep)
		}
		for i, ep := range eps {
			if err := ep.SendAM(ctx, 1, nil, nil); err != nil {
				t.Fatalf("endpoint %d of %d: %v", i, n, err)
			}
			said++
		}
		if !eventually(func() bool { return heard.Load() == said }) {
			t.Fatalf("%d endpoints: %d of %d messages arrived", n, heard.Load(), said)
		}
	}
}
