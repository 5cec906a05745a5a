package braid_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// sleepers are the ways in which a program sleeps for its peer. None of them has keepalive to rescue a wake-up that is late.
var sleepers = []struct {
	name string
	opts braid.Options
}{
	{"shared", braid.Options{ErrorMode: braid.None}},
	{"shared sleep", braid.Options{ErrorMode: braid.None, Wait: braid.WaitSleep}},
	{"owned", braid.Options{ErrorMode: braid.None, Owned: true}},
	{"owned sleep", braid.Options{ErrorMode: braid.None, Owned: true, Wait: braid.WaitSleep}},
}

// TestF6_VisibleSoon: whoever sleeps for something sees it within 10 ms of its happening, keepalive off. The bound is for the median,
// since a busy machine delays some; but none is late by as much as a timer that rescues it would make it.
func TestF6_VisibleSoon(t *testing.T) {
	for _, s := range sleepers {
		s.opts.Times.Keepalive = time.Hour
		t.Run(s.name, func(t *testing.T) {
			ctx := testContext(t)
			p := connect(t, braid.Options{}, braid.Options{ErrorMode: braid.None, Times: s.opts.Times})
			n, err := braid.Open(s.opts)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { n.Close() })
			w := newWorker(t, n)
			ep, err := w.Dial(ctx, p.ln.Addr())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := p.ln.Accept(ctx)
			if err != nil {
				t.Fatal(err)
			}
			mem, err := p.bn.Alloc(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			f := &visible{t: t, w: w, owned: s.opts.Owned, ep: ep, peer: peer, key: mem.Key(braid.Read | braid.Write)}
			p.bw.HandleAM(1, func(m *braid.Message) {
				time.Sleep(3 * time.Millisecond) // the asker sleeps by now
				f.at.Store(int64(time.Since(processStart)))
				m.Endpoint().PostAM(2, nil, nil).Release()
			})
			f.all(ctx)
		})
	}
}

var processStart = time.Now()

// visible measures how long things take to be seen.
type visible struct {
	t        *testing.T
	w        *braid.Worker
	owned    bool
	ep, peer *braid.Endpoint
	key      braid.RKey
	at       atomic.Int64 // when it happened, since the process began
}

func (f *visible) all(ctx context.Context) {
	check := func(err error) {
		if err != nil {
			f.t.Error(err)
		}
	}
	buf := make([]byte, 100<<10)
	seen := make(chan struct{}, 1)
	f.w.HandleAM(2, func(*braid.Message) { seen <- struct{}{} })
	f.each("flush of a put", func() { check(f.ep.Put(ctx, buf, f.key, 0)); check(f.ep.Flush(ctx)) })
	f.each("flush after polling", func() { f.poll(); check(f.ep.Put(ctx, buf, f.key, 0)); check(f.ep.Flush(ctx)) })
	f.each("get", func() { check(f.ep.Get(ctx, buf, f.key, 0)) })
	f.each("wait for a flush", func() { f.ep.PostAM(9, nil, nil).Release(); f.ep.PostFlush().Wait(ctx) }) // ErrHandler
	f.each("callback", func() {
		f.ep.PostFlush().Then(func(error) { seen <- struct{}{} })
		f.until(ctx, seen)
	})
	f.each("answer", func() { check(f.ep.SendAM(ctx, 1, nil, nil)); f.until(ctx, seen) })
	f.each("answer after polling", func() {
		f.poll()
		check(f.ep.SendAM(ctx, 1, nil, nil))
		f.until(ctx, seen)
	})
	time.AfterFunc(20*time.Millisecond, f.peer.Abort)
	before := time.Now()
	for {
		for f.owned && f.w.Progress() > 0 {
		}
		switch {
		case f.ep.Err() != nil:
			return
		case time.Since(before) > patience/2:
			f.t.Error("the end of the endpoint was not seen")
			return
		case f.owned:
			f.w.Sleep(ctx)
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// poll polls until nobody waits for the descriptors any more, and has that not count.
func (f *visible) poll() {
	n := 0
	for end := time.Now().Add(5 * time.Millisecond); n < 1000 || time.Now().Before(end); n++ {
		f.w.Progress()
	}
	f.at.Store(int64(time.Since(processStart)))
}

// until sleeps for seen, as the mode of the worker has it.
func (f *visible) until(ctx context.Context, seen chan struct{}) {
	if !f.owned {
		select {
		case <-seen:
		case <-ctx.Done():
			f.t.Error("not seen")
		}
		return
	}
	for ctx.Err() == nil {
		for f.w.Progress() > 0 {
		}
		select {
		case <-seen:
			return
		default:
			f.w.Sleep(ctx)
		}
	}
	f.t.Error("not seen")
}

func (f *visible) each(what string, do func()) {
	const times = 15
	var took []time.Duration
	for range times {
		time.Sleep(2 * time.Millisecond) // so that all are asleep
		f.at.Store(int64(time.Since(processStart)))
		do()
		took = append(took, time.Since(processStart)-time.Duration(f.at.Load()))
	}
	slices.Sort(took)
	f.t.Logf("%s: median %v, last %v", what, took[times/2], took[times-1])
	if took[times/2] > 10*time.Millisecond {
		f.t.Errorf("%s is seen after %v", what, took[times/2])
	}
	if took[times-1] > 3*time.Second {
		f.t.Errorf("%s was seen after %v, once", what, took[times-1])
	}
}
