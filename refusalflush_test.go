package braid_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/openbraid/braid"
)

// refusing is an endpoint, memory of its peer, and memory that is gone.
type refusing struct {
	t         *testing.T
	ctx, over context.Context
	p         *pair
	key, gone braid.RKey
}

func (r *refusing) refused(k braid.RKey) { r.p.a.PostPut(make([]byte, 8), k, 0).Release() }

func (r *refusing) flush() error { return r.p.a.Flush(r.ctx) }

// refusalCase returns what the flush says that has to know.
type refusalCase struct {
	name string
	do   func() error
}

func (r *refusing) parts() []refusalCase {
	return []refusalCase{
		{"a flush of its memory before", func() error {
			r.refused(r.gone)
			if err := r.p.a.FlushWith(r.ctx, braid.FlushOptions{Memory: r.gone}); !errors.Is(err, braid.ErrAccess) {
				r.t.Errorf("a flush of the memory: %v", err)
			}
			return r.flush()
		}},
		{"a flush of other memory before", func() error {
			r.refused(r.gone)
			r.refused(r.key)
			_ = r.p.a.FlushWith(r.ctx, braid.FlushOptions{Memory: r.key})
			return r.flush()
		}},
		{"a flush of its memory with it", func() error {
			r.refused(r.gone)
			all, part := r.p.a.PostFlush(), r.p.a.PostFlushWith(braid.FlushOptions{Memory: r.gone})
			if err := all.Wait(r.ctx); !errors.Is(err, braid.ErrAccess) {
				r.t.Errorf("of everything: %v", err)
			}
			return part.Wait(r.ctx)
		}},
		{"a flush of buffers before", func() error {
			r.refused(r.gone)
			q := r.p.a.PostFlush()
			for done := false; !done; done, _ = q.Test() {
				r.p.aw.Progress()
				_ = r.p.a.FlushWith(r.ctx, braid.FlushOptions{Sent: true})
			}
			return q.Wait(r.ctx)
		}},
	}
}

func (r *refusing) wholes() []refusalCase {
	return []refusalCase{
		{"another flush with it", func() error {
			r.refused(r.gone)
			one, two := r.p.a.PostFlush(), r.p.a.PostFlush()
			if err := one.Wait(r.ctx); !errors.Is(err, braid.ErrAccess) {
				r.t.Errorf("the first of two: %v", err)
			}
			return two.Wait(r.ctx)
		}},
		{"a flush of the worker with it", func() error {
			r.refused(r.gone)
			one, two := r.p.a.PostFlush(), r.p.aw.PostFlush()
			if err := one.Wait(r.ctx); !errors.Is(err, braid.ErrAccess) {
				r.t.Errorf("the endpoint's: %v", err)
			}
			return two.Wait(r.ctx)
		}},
		{"a flush that nobody waits for", func() error {
			r.refused(r.gone)
			r.p.a.PostFlush().Release()
			return r.flush()
		}},
		{"a flush whose context was over", func() error {
			r.refused(r.gone)
			_ = r.p.a.Flush(r.over)
			return r.flush()
		}},
		{"a flush of the worker whose context was over", func() error {
			r.refused(r.gone)
			_ = r.p.aw.Flush(r.over)
			return r.flush()
		}},
		{"a flush of the worker that was canceled", func() error {
			r.refused(r.gone)
			q := r.p.aw.PostFlush()
			q.Cancel()
			_ = q.Wait(r.ctx)
			return r.flush()
		}},
		{"a flush of what came before", func() error {
			r.refused(r.key)
			q := r.p.a.PostFlush()
			r.refused(r.gone)
			_ = q.Wait(r.ctx)
			return r.flush()
		}},
	}
}

// TestRefusalAndFlushes: whatever other flushes there were, one of everything that ends well had no refused operation before it. Once one has told
// its user of the refusal, later ones don't.
func TestRefusalAndFlushes(t *testing.T) {
	p := connect(t, braid.Options{Owned: true}, braid.Options{}) // nothing ends between two posts
	mem, gone := target(t, p.bn, 64), target(t, p.bn, 64)
	r := &refusing{t: t, ctx: testContext(t), p: p, key: mem.Key(braid.Write), gone: gone.Key(braid.Write)}
	over, cancel := context.WithCancel(r.ctx)
	cancel()
	r.over = over
	if err := gone.Deregister(); err != nil {
		t.Fatal(err)
	}
	for _, c := range append(r.parts(), r.wholes()...) {
		for i := range 20 {
			if err := c.do(); !errors.Is(err, braid.ErrAccess) {
				t.Errorf("%s, round %d: %v, want %v", c.name, i, err, braid.ErrAccess)
				break
			}
			if err := r.flush(); err != nil {
				t.Errorf("%s: it was told, and the next flush says %v", c.name, err)
			}
		}
	}
	r.refused(r.gone)
	p.a.PostFlush().Release()
	if err := p.a.Close(r.ctx); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("close: %v", err)
	}
}

// TestRefusedInTheMiddle: of a put of which the peer has carried out a part before it refused the rest nobody says that nothing of it is there.
func TestRefusedInTheMiddle(t *testing.T) {
	for _, size := range []int{1000, 8 << 20} {
		ctx := testContext(t)
		p := still(ctx, t)
		mem, err := p.bn.Register(make([]byte, size))
		if err != nil {
			t.Fatal(err)
		}
		q := p.a.PostPut(bytes.Repeat([]byte{1}, size), mem.Key(braid.Write), 0)
		for p.bw.Progress() == 0 || size > 1000 && mem.Bytes()[0] == 0 {
		}
		done := mem.Bytes()[0] == 1
		for errors.Is(mem.Deregister(), braid.ErrBusy) {
			p.bw.Progress()
		}
		flush := p.a.PostFlush()
		for what, err := range map[string]error{"flush": p.runs(ctx, t, flush), "put": p.runs(ctx, t, q)} {
			var op *braid.OpError
			if done && size == 1000 && err == nil {
				continue
			}
			if !errors.Is(err, braid.ErrAccess) || !errors.As(err, &op) || done && op.Fate != braid.Unknown {
				t.Errorf("%d bytes, some of which are there: %v; %s: %v", size, done, what, err)
			}
		}
	}
}
