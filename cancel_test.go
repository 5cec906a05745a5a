package braid_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// given is one call of a family, towards a peer that does nothing for now.
type given struct {
	name string
	post func(p *pair, key braid.RKey, buf []byte) braid.Request
	into bool // buf is written to
}

func everyFamily() []given {
	tags := braid.Signal{Offset: 2 << 20, Value: 1}
	return []given{
		{"put", func(p *pair, key braid.RKey, buf []byte) braid.Request { return p.a.PostPut(buf, key, 0) }, false},
		{"put with signal", func(p *pair, key braid.RKey, buf []byte) braid.Request {
			tags.Key = key
			return p.a.PostPutSignal(buf, key, 0, tags)
		}, false},
		{"get", func(p *pair, key braid.RKey, buf []byte) braid.Request { return p.a.PostGet(buf, key, 0) }, true},
		{"message", func(p *pair, _ braid.RKey, buf []byte) braid.Request { return p.a.PostAM(1, nil, buf) }, false},
		{"offered message", func(p *pair, _ braid.RKey, buf []byte) braid.Request { return p.a.PostOfferAM(2, nil, buf) }, false},
		{"tag", func(p *pair, _ braid.RKey, buf []byte) braid.Request { return p.a.PostTag(1, buf) }, false},
		{"synchronous tag", func(p *pair, _ braid.RKey, buf []byte) braid.Request { return p.a.PostTagSync(1, buf) }, false},
		{"add", func(p *pair, key braid.RKey, _ []byte) braid.Request { return p.a.Word64(key, counted).PostAdd(1) }, false},
		{"fetch-add", func(p *pair, key braid.RKey, _ []byte) braid.Request {
			return p.a.Word64(key, counted).PostFetchAdd(1).Request
		}, true},
		{"tag receive", func(p *pair, _ braid.RKey, buf []byte) braid.Request {
			return p.aw.PostRecvTag(buf, 2, braid.ExactTag).Request
		}, true},
		{"tag receive of one", func(p *pair, _ braid.RKey, buf []byte) braid.Request {
			return p.a.PostRecvTag(buf, 2, braid.ExactTag).Request
		}, true},
	}
}

// still is a pair whose second side makes no progress from now on but by its owner, the test.
func still(ctx context.Context, t *testing.T) *pair {
	t.Helper()
	return stillWith(ctx, t, braid.Options{})
}

func stillWith(ctx context.Context, t *testing.T, o braid.Options) *pair {
	t.Helper()
	p := &pair{an: mustOpen(t, o), bn: mustOpen(t, braid.Options{Owned: true})}
	p.aw, p.bw = newWorker(t, p.an), newWorker(t, p.bn)
	var err error
	if p.ln, err = p.bw.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	dialed, addr := make(chan error, 1), p.ln.Addr()
	go func() {
		ep, err := p.aw.Dial(ctx, addr)
		p.a = ep
		dialed <- err
	}()
	for p.b, err = p.ln.Accept(ctx); err == nil; p.bw.Progress() {
		select {
		case err := <-dialed:
			if err != nil {
				t.Fatal(err)
			}
			return p
		default:
		}
	}
	t.Fatal(err)
	return nil
}

// counted is where the word is that is added to: once, or not at all.
const counted = 2<<20 + 8

// What is in a buffer while it is the library's, and after that.
const was, now = 0x11, 0xee

// TestCancelEveryFamily: an operation whose deadline is over, or that is canceled, gives its buffer back: from then on the library neither writes into it nor sends anything of what its user puts
// there, whatever the peer does later; and the endpoint is as good as before.
func TestCancelEveryFamily(t *testing.T) {
	tidy(t)
	for _, f := range everyFamily() {
		for _, size := range []int{64, 1 << 20} {
			for _, canceled := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s of %d, canceled=%v", f.name, size, canceled), func(t *testing.T) { f.isCanceled(t, size, canceled) })
			}
		}
	}
}

func (f given) isCanceled(t *testing.T, size int, canceled bool) {
	ctx := testContext(t)
	p := still(ctx, t)
	var wrong atomic.Uint32
	heard := func(b []byte) {
		if bytes.IndexByte(b, now) >= 0 {
			wrong.Add(1)
		}
	}
	p.bw.HandleAM(1, func(m *braid.Message) { heard(m.Payload()) })
	p.bw.HandleOffer(2, func(m *braid.Message) {
		got := make([]byte, m.Size())
		m.PostRecv(got).Then(func(err error) {
			if err == nil {
				heard(got)
			}
		})
	})
	mem, err := p.bn.Register(bytes.Repeat([]byte{0x33}, 3<<20))
	if err != nil {
		t.Fatal(err)
	}
	buf := bytes.Repeat([]byte{was}, size)
	r := f.post(p, mem.Key(braid.Read|braid.Write|braid.Atomic), buf)
	before := mem.Load64(counted)
	short, cancel := context.WithTimeout(ctx, 2*time.Millisecond)
	defer cancel()
	if canceled {
		r.Cancel() // what is on lanes goes on, and has an end that Wait says
	}
	err = r.Wait(short)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, braid.ErrCanceled) {
		t.Error(err)
	}
	if err == nil && f.into {
		t.Error("it has ended well, and nobody was there")
	}
	for i := range buf {
		buf[i] = now
	}
	p.goesOn(ctx, t, size, heard)
	heard(mem.Bytes())
	if times := mem.Load64(counted) - before; times > 1 {
		t.Errorf("1 was added %d times", times)
	}
	if n := bytes.Count(buf, []byte{now}); n != size || wrong.Load() != 0 {
		t.Errorf("%d of %d bytes were left alone; what came after the end was sent %d times", n, size, wrong.Load())
	}
}

// goesOn has the peer wake and send what was waited for; it takes what has come, and ends when both sides have all of each other.
func (p *pair) goesOn(ctx context.Context, t *testing.T, size int, heard func([]byte)) {
	p.b.PostTag(2, bytes.Repeat([]byte{0x44}, size)).Release()
	receive := p.aw.PostRecvTag(nil, 3, braid.ExactTag)
	p.b.PostTag(3, nil).Release()
	flushed := make(chan error, 1)
	go func() { flushed <- errors.Join(p.a.PostFlush().Wait(ctx), receive.Request.Wait(ctx)) }()
	for {
		p.bw.Progress()
		if m := p.bw.TakeTag(1, braid.ExactTag); m != nil {
			got := make([]byte, m.Len)
			if _, err := m.Recv(ctx, got); err == nil {
				heard(got)
			}
		}
		select {
		case err := <-flushed:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// TestRoomAfterCancel: who waits for room goes on when what took it has ended otherwise than by going, also while nothing moves.
func TestRoomAfterCancel(t *testing.T) {
	const waits = 4 // operations of a kind
	small := make([]byte, 8)
	type posts map[string]func(p *pair, key braid.RKey, buf []byte) braid.Request
	post := posts{
		"put":     func(p *pair, key braid.RKey, buf []byte) braid.Request { return p.a.PostPut(buf, key, 0) },
		"get":     func(p *pair, key braid.RKey, buf []byte) braid.Request { return p.a.PostGet(buf, key, 0) },
		"message": func(p *pair, _ braid.RKey, buf []byte) braid.Request { return p.a.PostAM(1, nil, buf) },
	}
	blocked := map[string]func(context.Context, *pair, braid.RKey) error{
		"put":     func(ctx context.Context, p *pair, key braid.RKey) error { return p.a.Put(ctx, small, key, 0) },
		"get":     func(ctx context.Context, p *pair, key braid.RKey) error { return p.a.Get(ctx, make([]byte, 8), key, 0) },
		"message": func(ctx context.Context, p *pair, _ braid.RKey) error { return p.a.SendAM(ctx, 1, nil, small) },
	}
	for kind := range post {
		for how, end := range map[string]func(context.Context, *pair, []braid.Request){
			"each": func(_ context.Context, _ *pair, all []braid.Request) { each(all, braid.Request.Cancel) },
			"a flush": func(_ context.Context, p *pair, _ []braid.Request) {
				p.a.PostFlushWith(braid.FlushOptions{Cancel: true}).Release()
			},
			"their contexts": func(ctx context.Context, _ *pair, all []braid.Request) {
				over, cancel := context.WithCancel(ctx)
				cancel()
				each(all, func(r braid.Request) { _ = r.Wait(over) })
			},
		} {
			for _, size := range []int{64 << 10, 16 << 20} { // what waits is not begun; the first of what waits is, being more than a window
				buf := make([]byte, size)
				t.Run(fmt.Sprintf("%s, %s, %d", kind, how, size), func(t *testing.T) {
					ctx := testContext(t)
					p := stillWith(ctx, t, braid.Options{Limits: braid.Limits{Pending: waits}})
					p.bw.HandleAM(1, func(*braid.Message) {})
					mem, err := p.bn.Register(make([]byte, 16<<20))
					if err != nil {
						t.Fatal(err)
					}
					key := mem.Key(braid.Read | braid.Write)
					all := []braid.Request{}
					for {
						r := post[kind](p, key, buf)
						if done, err := r.Test(); done && errors.Is(err, braid.ErrLimit) {
							break
						}
						all = append(all, r)
					}
					went := make(chan error, 1)
					go func() { went <- blocked[kind](ctx, p, key) }()
					time.Sleep(20 * time.Millisecond)
					end(ctx, p, all)
					for len(went) == 0 && ctx.Err() == nil {
						p.bw.Progress()
					}
					if err := <-went; err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func each(all []braid.Request, do func(braid.Request)) {
	for _, r := range all {
		do(r)
	}
}
