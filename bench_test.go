package braid_test

import (
	"context"
	"testing"

	"github.com/openbraid/braid"
)

// owned is a connected pair of workers that this goroutine polls.
type owned struct {
	aw, bw *braid.Worker
	a, b   *braid.Endpoint
	mem    *braid.Memory
}

func connectOwned(t testing.TB, mode braid.ErrorMode) *owned {
	t.Helper()
	return connectPolled(t, braid.Options{Owned: true, ErrorMode: mode})
}

// connectPolled is connectOwned with options.
func connectPolled(t testing.TB, opts braid.Options) *owned {
	t.Helper()
	o := &owned{}
	node := func() *braid.Node {
		n, err := braid.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		return n
	}
	an, bn := node(), node()
	o.aw, o.bw = newWorker(t, an), newWorker(t, bn)
	ln, err := o.bw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr()
	accepted := make(chan *braid.Endpoint)
	go func() { // the acceptor's goroutine owns bw until it hands it over
		ep, err := ln.Accept(testContext(t))
		if err != nil {
			t.Error(err)
		}
		accepted <- ep
	}()
	if o.a, err = o.aw.Dial(testContext(t), addr); err != nil {
		t.Fatal(err)
	}
	o.b = <-accepted
	if o.mem, err = bn.Alloc(1 << 20); err != nil {
		t.Fatal(err)
	}
	return o
}

// turn lets both sides make progress.
func (o *owned) turn() { o.aw.Progress(); o.bw.Progress() }

func BenchmarkMessage8(b *testing.B) {
	o := connectOwned(b, braid.Failover)
	got := 0
	o.bw.HandleAM(1, func(*braid.Message) { got++ })
	payload := make([]byte, 8)
	b.ReportAllocs()
	for i := range b.N {
		for o.post(b, payload) {
			o.turn()
		}
		if i%64 == 63 {
			o.turn()
		}
	}
	for got < b.N {
		o.turn()
	}
}

// post says whether the message has to wait for room.
func (o *owned) post(b *testing.B, payload []byte) (again bool) {
	r := o.a.PostAM(1, nil, payload)
	done, err := r.Test()
	if !done || err != nil {
		r.Release()
	}
	return err != nil
}

func BenchmarkPut(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"8", 8}, {"4KiB", 4 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			o := connectOwned(b, braid.Failover)
			key := o.mem.Key(braid.Write)
			src := make([]byte, c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for i := range b.N {
				r := o.a.PostPut(src, key, 0)
				for done, err := r.Test(); !done; done, err = r.Test() {
					if err != nil {
						b.Fatal(err)
					}
					o.turn()
				}
				r.Release()
				if i%16 == 15 {
					o.turn()
				}
			}
		})
	}
}

// A fence with nothing unexecuted, and one in a stream on one lane.
func BenchmarkFence(b *testing.B) {
	for _, c := range []struct {
		name       string
		put, fence bool
	}{{"nothing", false, true}, {"put8", true, false}, {"put8+fence", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			o := connectOwned(b, braid.Failover)
			key := o.mem.Key(braid.Write)
			src := make([]byte, 8)
			b.ReportAllocs()
			for i := range b.N {
				if c.put {
					for done, err := o.a.PostPut(src, key, 0).Test(); !done || err != nil; done, err = o.a.PostPut(src, key, 0).Test() {
						o.turn()
					}
				}
				if c.fence {
					o.a.Fence()
				}
				if c.put && i%64 == 63 {
					o.turn()
				}
			}
		})
	}
}

// BenchmarkDial is one endpoint of one lane over loopback, until it may be posted on. Who accepts works beside it.
func BenchmarkDial(b *testing.B) {
	for name, secret := range map[string]braid.Secret{"open": {}, "secret": braid.NewSecret()} {
		b.Run(name, func(b *testing.B) {
			p := connect(b, braid.Options{Secret: secret, Lanes: 1}, braid.Options{Secret: secret})
			go func() {
				for {
					in, err := p.ln.Accept(context.Background())
					if err != nil {
						return
					}
					in.Abort()
				}
			}()
			for b.Loop() {
				ep, err := p.aw.Dial(b.Context(), p.ln.Addr())
				if err != nil {
					b.Fatal(err)
				}
				ep.Abort()
			}
			p.ln.Close()
		})
	}
}
