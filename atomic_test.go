package braid_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/openbraid/braid"
)

// TestWord goes through all that a word can do, of both sizes, in both modes of workers.
func TestWord(t *testing.T) {
	for _, owned := range []bool{false, true} {
		ctx := testContext(t)
		p := connect(t, braid.Options{Owned: owned}, braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
		mem, err := p.bn.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		key := mem.Key(braid.Atomic)
		long, short := p.a.Word64(key, 8), p.a.Word32(key, 20)
		got := func(old uint64, err error) uint64 {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			return old
		}
		for _, c := range []struct {
			name       string
			long       func() uint64
			short      func() (uint32, error)
			old, after uint64
		}{
			{"add", func() uint64 { return got(long.FetchAdd(ctx, 5)) }, func() (uint32, error) { return short.FetchAdd(ctx, 5) }, 0, 5},
			{"or", func() uint64 { return got(long.FetchOr(ctx, 0x30)) }, func() (uint32, error) { return short.FetchOr(ctx, 0x30) }, 5, 0x35},
			{"and", func() uint64 { return got(long.FetchAnd(ctx, 0x11)) }, func() (uint32, error) { return short.FetchAnd(ctx, 0x11) }, 0x35, 0x11},
			{"xor", func() uint64 { return got(long.FetchXor(ctx, 0xff)) }, func() (uint32, error) { return short.FetchXor(ctx, 0xff) }, 0x11, 0xee},
			{"swap", func() uint64 { return got(long.Swap(ctx, 7)) }, func() (uint32, error) { return short.Swap(ctx, 7) }, 0xee, 7},
			{"compare, another", func() uint64 { return got(long.CompareSwap(ctx, 8, 9)) }, func() (uint32, error) { return short.CompareSwap(ctx, 8, 9) }, 7, 7},
			{"compare, the same", func() uint64 { return got(long.CompareSwap(ctx, 7, 9)) }, func() (uint32, error) { return short.CompareSwap(ctx, 7, 9) }, 7, 9},
			{"subtract", func() uint64 { return got(long.FetchAdd(ctx, ^uint64(0))) }, func() (uint32, error) { return short.FetchAdd(ctx, math.MaxUint32) }, 9, 8},
		} {
			l := c.long()
			s, err := c.short()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if l != c.old || uint64(s) != c.old || mem.Load64(8) != c.after || uint64(mem.Word32(20).Load()) != c.after {
				t.Fatalf("%s: it was %#x and %#x, is %#x and %#x; want %#x and %#x", c.name, l, s, mem.Load64(8), mem.Word32(20).Load(), c.old, c.after)
			}
		}
		for _, err := range []error{
			long.Add(ctx, 8), long.PostOr(0x21).Wait(ctx), short.Add(ctx, 8), short.Or(ctx, 0x21), p.a.Flush(ctx), // 0x31
			long.And(ctx, 0xf1), short.PostAnd(0xf1).Wait(ctx), p.a.Flush(ctx), long.Xor(ctx, 1), short.PostXor(1).Wait(ctx), p.a.Flush(ctx),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if l, s := mem.Load64(8), mem.Word32(20).Load(); l != 0x30 || s != 0x30 {
			t.Fatalf("%#x, %#x", l, s)
		}
		if mem.Load64(0)|mem.Load64(24)|uint64(mem.Word32(16).Load()) != 0 {
			t.Fatal("a neighbour was changed")
		}
		if n := p.a.Stats().Atomics; n != 24 {
			t.Errorf("%d atomics are counted", n)
		}
	}
}

// TestFetchForms: a posted fetch has its value in each of the ways in which one can ask for it, and after a flush.
func TestFetchForms(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	w := p.a.Word64(mem.Key(braid.Atomic), 0)
	seen := make(chan uint64, 1)
	w.PostSwap(1 << 40).Then(func(old uint64, err error) { seen <- old })
	if old := <-seen; old != 0 {
		t.Fatal(old)
	}
	f := w.PostFetchAdd(1)
	if old, err := f.Wait(ctx); old != 1<<40 || err != nil {
		t.Fatal(old, err)
	}
	if _, err := f.Wait(ctx); !errors.Is(err, braid.ErrRequest) {
		t.Error("waited for twice:", err)
	}
	var all []braid.Fetch[uint64]
	for range 200 { // more than may be asked for at a time
		all = append(all, w.PostFetchAdd(1))
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for i, f := range all {
		done, old, err := f.Test()
		if !done || err != nil || old != 1<<40+1+uint64(i) { // one lane keeps their order
			t.Fatalf("fetch %d after the flush: %v, %#x, %v", i, done, old, err)
		}
		f.Release()
	}
	w.PostFetchAnd(0).Then(func(old uint64, err error) { seen <- old })
	if old := <-seen; old != 1<<40+201 {
		t.Fatal(old)
	}
}

// TestWordErrors: what can't be is refused, with a typed error that says that nothing was done.
func TestWordErrors(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Atomic)
	check := func(name string, err, want error) {
		t.Helper()
		var op *braid.OpError
		if !errors.Is(err, want) || !errors.As(err, &op) || op.Op != "atomic" || op.Fate != braid.NotExecuted {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, w := range map[string]braid.Word[uint64]{
		"not aligned":          p.a.Word64(key, 4),
		"beyond":               p.a.Word64(key, 64),
		"far beyond":           p.a.Word64(key, math.MaxUint64-7),
		"a key to put and get": p.a.Word64(mem.Key(braid.Read|braid.Write), 0),
		"no key":               p.a.Word64(braid.RKey{}, 0),
	} {
		_, err := w.FetchAdd(ctx, 1)
		check(name+", fetch", err, braid.ErrAccess)
		check(name, w.Add(ctx, 1), braid.ErrAccess)
	}
	_, err = p.a.Word32(key, 62).Swap(ctx, 1)
	check("a short word, not aligned", err, braid.ErrAccess)

	own, err := p.bn.Register(make([]byte, 65)[1:])
	if err != nil {
		t.Fatal(err)
	}
	crooked := p.a.Word64(own.Key(braid.Atomic), 0)
	_, err = crooked.FetchAdd(ctx, 1)
	check("memory that is not aligned, fetch", err, braid.ErrAccess)
	check("memory that is not aligned: sent", errors.Join(crooked.Add(ctx, 1), p.a.Flush(ctx)), braid.ErrAccess)
	if err := mem.Deregister(); err != nil {
		t.Fatal(err)
	}
	_, err = p.a.Word64(key, 0).FetchAdd(ctx, 1)
	check("memory that is gone, fetch", err, braid.ErrAccess)
	check("memory that is gone", errors.Join(p.a.Word64(key, 0).Add(ctx, 1), p.a.Flush(ctx)), braid.ErrAccess)
	if n := mem.Load64(0); n != 0 {
		t.Errorf("the word is %d", n)
	}
	p.a.Abort()
	_, err = p.a.Word64(key, 0).FetchAdd(ctx, 1)
	check("closed, fetch", err, braid.ErrClosed)
	check("closed", p.a.Word64(key, 0).Add(ctx, 1), braid.ErrClosed)
}

// TestAtomicTogether: two workers of one node, over tcp and over the loopback within a worker, and the node's own program add to one word at the same time.
func TestAtomicTogether(t *testing.T) {
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	mem, err := p.bn.Alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	key := mem.Key(braid.Atomic | braid.Read)
	inside, err := p.bw.Dial(ctx, p.ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	second := newWorker(t, p.bn)
	ln, err := second.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.aw.Dial(ctx, ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	const each = 300
	seen := make([][]uint64, 4)
	var all sync.WaitGroup
	for i, ep := range []*braid.Endpoint{p.a, other, inside} {
		all.Go(func() {
			for range each {
				old, err := ep.Word64(key, 0).FetchAdd(ctx, 1)
				if err != nil {
					t.Error(err)
					return
				}
				seen[i] = append(seen[i], old)
			}
		})
	}
	all.Go(func() {
		for range each {
			seen[3] = append(seen[3], mem.Word64(0).Add(1)-1)
		}
	})
	all.Wait()
	had := map[uint64]bool{}
	for _, s := range seen {
		for _, v := range s {
			if had[v] || v >= 4*each {
				t.Fatalf("%d was fetched twice, or never was", v)
			}
			had[v] = true
		}
	}
	var b [8]byte
	if err := other.Get(ctx, b[:], key, 0); err != nil {
		t.Fatal(err)
	}
	if mem.Load64(0) != 4*each || len(had) != 4*each {
		t.Errorf("%d, %d values", mem.Load64(0), len(had))
	}
}
