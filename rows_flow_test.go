package braid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/openbraid/braid"
)

// Threads, flow, and what is left: what users of other libraries have met.

// TestF10_FlushWithoutThePeersHelp: a flush ends while the peer's program does nothing, and while a handler of it stands still.
func TestF10_FlushWithoutThePeersHelp(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Register(make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	p.bw.HandleAM(1, func(*braid.Message) { <-release })
	for _, stuck := range []bool{false, true} {
		if stuck {
			if err := p.a.SendAM(ctx, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(p.a.Put(ctx, tagBytes(1<<20, 1), mem.Key(braid.Write), 0), p.a.Flush(ctx)); err != nil {
			t.Errorf("a handler stands still: %v: %v", stuck, err)
		}
	}
	close(release)
}

// TestF13_AllCallsFromManyGoroutines: 32 goroutines do everything that there is, on the two endpoints of a pair, in orders of their own; what counts comes out right.
func TestF13_AllCallsFromManyGoroutines(t *testing.T) {
	tidy(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	const goroutines, rounds = 32, 25
	p := connect(t, braid.Options{}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	mem, err := p.bn.Register(make([]byte, goroutines<<16))
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Read | braid.Write | braid.Atomic)
	counter, err := p.bn.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	var handled atomic.Int64
	p.bw.HandleAM(1, func(*braid.Message) { handled.Add(1) })
	m := &mixed{pair: p, key: key, counter: counter}
	var all sync.WaitGroup
	for g := range uint64(goroutines) {
		all.Go(func() {
			luck, buf := rand.New(rand.NewPCG(1, g)), make([]byte, 1<<16)
			for range rounds {
				err := m.anything(ctx, luck, g, buf)
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return handled.Load() == m.messages.Load() }) || counter.Load64(0) != uint64(m.adds.Load()) {
		t.Errorf("%d of %d messages, a counter of %d after %d", handled.Load(), m.messages.Load(), counter.Load64(0), m.adds.Load())
	}
}

// mixed is a pair on which everything is done, and what of that counts.
type mixed struct {
	*pair
	key            braid.RKey
	counter        *braid.Memory
	adds, messages atomic.Int64
}

// anything does one of all the things that there are to do, for goroutine g.
func (p *mixed) anything(ctx context.Context, luck *rand.Rand, g uint64, buf []byte) (err error) {
	at := g << 16
	n := []int{0, 8, 3000, 1 << 16}[luck.IntN(4)]
	switch luck.IntN(14) {
	case 0:
		err = p.a.Put(ctx, buf[:n], p.key, at)
	case 1:
		err = p.a.Get(ctx, buf[:n], p.key, at)
	case 2:
		p.messages.Add(1)
		err = p.a.SendAM(ctx, 1, nil, buf[:n])
	case 3:
		p.adds.Add(1)
		_, err = p.a.Word64(p.counter.Key(braid.Atomic), 0).FetchAdd(ctx, 1)
	case 4:
		r := p.bw.PostRecvTag(buf[:n], g, braid.ExactTag)
		err = errors.Join(p.a.SendTag(ctx, g, make([]byte, n)), waited(ctx, r))
	case 5:
		r := p.aw.PostRecvTag(buf[:n], g, braid.ExactTag)
		err = errors.Join(p.b.SendTagSync(ctx, g, make([]byte, n)), waited(ctx, r))
	case 6:
		r := p.bw.PostRecvTag(buf[:n], g|1<<32, braid.ExactTag)
		r.Cancel()
		r.Release()
	case 7:
		p.bw.ProbeTag(g|1<<33, braid.ExactTag)
		if m := p.bw.TakeTag(g|1<<33, braid.ExactTag); m != nil {
			err = errors.New("nobody sent that")
		}
		for range p.bw.WaitingTags() {
		}
	case 8:
		r := p.bw.PostWaitTag(g|1<<34, braid.ExactTag)
		r.Cancel()
		r.Then(func(braid.TagInfo, error) {})
	case 9:
		err = errors.Join(p.a.Flush(ctx), p.aw.Flush(ctx))
	case 10:
		p.a.Fence()
		p.aw.Fence()
	case 11:
		p.adds.Add(1)
		err = p.a.PutSignal(ctx, buf[:n], p.key, at, braid.Signal{Key: p.counter.Key(braid.Write), Value: 1, Add: true})
	case 12:
		r := p.a.PostPut(buf[:n], p.key, at)
		r.Info()
		_, err = r.WaitInfo(ctx)
	case 13:
		p.aw.Progress()
		_, _, _ = p.a.Lanes(), p.a.Stats(), p.aw.Strangers()
		for ep := range p.aw.Endpoints() {
			ep.Peer()
		}
	}
	return err
}

func waited(ctx context.Context, r braid.TagRecv) error {
	_, err := r.Wait(ctx)
	return err
}

// TestF15_FirstUseOfEachSize: the first operations of an endpoint are of all sizes at once, by each family, from goroutines of their own: each arrives whole.
func TestF15_FirstUseOfEachSize(t *testing.T) {
	tidy(t)
	sizes := []int{0, 1, 7, 8, 4 << 10, 16<<10 - 1, 16 << 10, 32<<10 + 1, 64 << 10, 128<<10 + 1, 256 << 10, 256<<10 + 1, 1 << 20}
	for _, o := range []braid.Options{{Lanes: 1}, {Rails: []string{"127.0.0.1", "127.0.0.2"}}} {
		ctx := testContext(t)
		p := connect(t, o, o)
		region := make([]byte, len(sizes)<<21)
		mem, err := p.bn.Register(region)
		if err != nil {
			t.Fatal(err)
		}
		key := mem.Key(braid.Read | braid.Write)
		arrived := make(chan []byte, len(sizes))
		p.bw.HandleAM(1, func(m *braid.Message) { arrived <- bytes.Clone(m.Payload()) })
		begin := make(chan struct{})
		var all sync.WaitGroup
		do := func(what string, n int, op func(src []byte) error) {
			src := tagBytes(n, byte(n))
			all.Go(func() {
				<-begin
				if err := op(src); err != nil {
					t.Errorf("%s of %d bytes: %v", what, n, err)
				}
			})
		}
		for i, n := range sizes {
			at, tag, back := uint64(i)<<21, uint64(i), make([]byte, n)
			do("put", n, func(src []byte) error {
				return errors.Join(p.a.Put(ctx, src, key, at), p.a.Flush(ctx), p.a.Get(ctx, back, key, at), same(back, src))
			})
			do("get", n, func([]byte) error { return p.a.Get(ctx, make([]byte, n), key, at+1<<20) })
			do("message", n, func(src []byte) error { return p.a.SendAM(ctx, 1, nil, src) })
			do("tag send", n, func(src []byte) error { return p.a.SendTag(ctx, tag, src) })
			do("tag receive", n, func(src []byte) error {
				buf := make([]byte, n)
				_, err := p.bw.RecvTag(ctx, buf, tag, braid.ExactTag)
				return errors.Join(err, same(buf, src))
			})
		}
		close(begin)
		all.Wait()
		for range sizes {
			if b := <-arrived; !bytes.Equal(b, tagBytes(len(b), byte(len(b)))) {
				t.Errorf("a message of %d bytes came as another", len(b))
			}
		}
		p.an.Close()
		p.bn.Close()
	}
}

func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes differ", len(want))
	}
	return nil
}

// TestF19_FourSendersOneReceiver: what senders are ahead of a receiver that is slow is bounded by what it keeps of each, and nothing is lost.
func TestF19_FourSendersOneReceiver(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	const senders, each, size, backlog = 4, 60, 8 << 10, 64 << 10
	w := newWorker(t, mustOpen(t, braid.Options{Limits: braid.Limits{Backlog: backlog}}))
	var sent, handled, most atomic.Int64
	w.HandleAM(1, func(*braid.Message) {
		time.Sleep(200 * time.Microsecond)
		most.Store(max(most.Load(), sent.Load()-handled.Add(1)))
	})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range senders {
		ep, err := newWorker(t, mustOpen(t, braid.Options{})).Dial(ctx, ln.Addr())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range each {
				if err := ep.SendAM(ctx, 1, nil, make([]byte, size)); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	all.Wait()
	if !eventually(func() bool { return handled.Load() == senders*each }) {
		t.Errorf("%d of %d were handled", handled.Load(), senders*each)
	}
	if bound := int64(senders * (backlog/size + 2)); most.Load() > bound {
		t.Errorf("%d messages were ahead, %d may be", most.Load(), bound)
	}
}

// TestF22_NothingIsKept: when a node is closed, nothing that it gave out is held by anything but its user.
func TestF22_NothingIsKept(t *testing.T) {
	tidy(t)
	var left []func() (string, bool)
	watch := func(name string, gone func() bool) {
		left = append(left, func() (string, bool) { return name, gone() })
	}
	func() {
		ctx := testContext(t)
		p := &pair{}
		for _, n := range []**braid.Node{&p.an, &p.bn} { // not connect: its cleanup holds them
			var err error
			if *n, err = braid.Open(braid.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		p.aw, p.bw = newWorker(t, p.an), newWorker(t, p.bn)
		ln, err := p.bw.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if p.a, err = p.aw.Dial(ctx, ln.Addr()); err != nil {
			t.Fatal(err)
		}
		if p.b, err = ln.Accept(ctx); err != nil {
			t.Fatal(err)
		}
		mem, err := p.bn.Alloc(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 300_000)
		if err := errors.Join(p.a.Put(ctx, buf, mem.Key(braid.Write), 0), p.a.SendTag(ctx, 1, buf[:8]), p.a.Flush(ctx)); err != nil {
			t.Fatal(err)
		}
		p.bw.PostRecvTag(buf, 2, braid.ExactTag) // never matched, never waited for
		p.a.PostTagSync(3, buf)                  // never received
		watchWeak(watch, "the dialing node", p.an)
		watchWeak(watch, "the listening node", p.bn)
		watchWeak(watch, "a worker", p.bw)
		watchWeak(watch, "the dialed endpoint", p.a)
		watchWeak(watch, "the accepted endpoint", p.b)
		watchWeak(watch, "memory", mem)
		watchWeak(watch, "a buffer", &buf[0])
		p.an.Close()
		p.bn.Close()
	}()
	for _, gone := range left {
		if name, _ := gone(); !eventually(func() bool { runtime.GC(); _, ok := gone(); return ok }) {
			t.Errorf("%s is still held", name)
		}
	}
}

func watchWeak[T any](watch func(string, func() bool), name string, of *T) {
	p := weak.Make(of)
	watch(name, func() bool { return p.Value() == nil })
}
