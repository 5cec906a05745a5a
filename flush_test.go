package braid_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/openbraid/braid"
)

// The flush of a worker is that of all its endpoints; one that has failed is named, and keeps none from being flushed.
func TestWorkerFlush(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	eps := []*braid.Endpoint{p.a}
	for range 3 {
		ep, err := p.aw.Dial(ctx, p.ln.Addr())
		if err != nil {
			t.Fatal(err)
		}
		eps = append(eps, ep)
	}
	const size = 300_000
	mem, err := p.bn.Alloc(4 * size)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte{7}, size)
	post := func() {
		for i, ep := range eps {
			ep.PostPut(data, mem.Key(braid.Write), uint64(i*size)).Release()
		}
	}
	post()
	if err := p.aw.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	p.bw.Progress() // the race detector does not see what the flush learned through a socket
	if !bytes.Equal(mem.Bytes(), bytes.Repeat(data, 4)) {
		t.Fatal("not all of it is there")
	}
	p.bw.Progress() // nor that it was read before it is written again
	post()
	eps[3].Abort() // it is closed now, and not the worker's any more
	if err := p.aw.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	accepted, err := p.ln.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	eps = eps[:3]
	post()
	accepted.Abort() // that of eps[1]: the peer's word that it is over
	for err = p.aw.Flush(ctx); err == nil && ctx.Err() == nil; err = p.aw.Flush(ctx) {
		post()
	}
	var op *braid.OpError
	if !errors.As(err, &op) || op.Op != "flush" || !errors.Is(err, braid.ErrPeerFailed) {
		t.Fatalf("an endpoint failed, and the worker's flush says %v", err)
	}
	if err := eps[2].Flush(ctx); err != nil {
		t.Fatal("an endpoint that is well:", err)
	}
}

func TestFlushWith(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.bn.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Write)
	src := make([]byte, 1<<20)
	var lanes []string
	for _, l := range p.a.Lanes() {
		lanes = append(lanes, l.Instance)
	}
	for i := range 20 {
		for j := range src {
			src[j] = byte(i + 1)
		}
		r := p.a.PostPut(src, key, 0)
		p.a.PostPut(src[:8], other.Key(braid.Write), 0).Release()
		o := []braid.FlushOptions{{Memory: key}, {Lanes: lanes}, {Sent: true}, {}}[i%4]
		if err := p.a.FlushWith(ctx, o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if done, err := r.Test(); !done || err != nil {
			t.Fatalf("%+v: the put is not even sent: %v", o, err)
		}
		r.Release()
		p.bw.Progress() // the race detector does not see what the flush learned through a socket
		if o.Lanes == nil && !o.Sent && !bytes.Equal(mem.Bytes(), src) {
			t.Fatalf("%+v: not all of it is there", o)
		}
		p.bw.Progress() // nor that it was read before it is written again
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	// What waits for a fence is canceled, what is on lanes is not.
	r := p.a.PostPut(src, key, 0)
	p.a.Fence()
	waits := p.a.PostPut(make([]byte, 1<<20), key, 0)
	if err := p.a.FlushWith(ctx, braid.FlushOptions{Cancel: true}); err != nil {
		t.Fatal(err)
	}
	if err := waits.Wait(ctx); err != nil && !errors.Is(err, braid.ErrCanceled) {
		t.Fatal(err)
	}
	if err := r.Wait(ctx); err != nil && !errors.Is(err, braid.ErrCanceled) {
		t.Fatal(err)
	}
}
