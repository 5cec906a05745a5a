package braid_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
)

// overShm is a pair over shared memory alone, with memory of b's that a has borrowed.
func overShm(t *testing.T, size int, owned bool) (*pair, *braid.Memory) {
	t.Helper()
	alone := func() []transport.Transport { return []transport.Transport{shm.New(shm.Options{})} }
	p := connect(t, braid.Options{Transports: alone(), Owned: owned}, braid.Options{Transports: alone()})
	return p, borrowed(t, p, size, owned)
}

const all = braid.Read | braid.Write | braid.Atomic

// borrowed is memory of b's that a puts into directly.
func borrowed(t *testing.T, p *pair, size int, owned bool) *braid.Memory {
	t.Helper()
	mem, err := p.bn.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	before := p.a.Stats().Direct
	if !eventually(func() bool {
		if owned {
			p.aw.Progress()
		}
		if err := p.a.Put(testContext(t), []byte{0}, mem.Key(all), uint64(size-1)); err != nil {
			t.Fatal(err)
		}
		return p.a.Stats().Direct > before
	}) {
		t.Fatal("the memory is not borrowed")
	}
	return mem
}

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7+i>>8) + seed
	}
	return b
}

// TestDirectInfo: what was done in memory that is lent says so, of every kind.
func TestDirectInfo(t *testing.T) {
	ctx := testContext(t)
	p, mem := overShm(t, 64, false)
	word := p.a.Word64(mem.Key(all), 0)
	for name, r := range map[string]braid.Request{"add": word.PostAdd(1), "fetch": word.PostFetchAdd(1).Request, "compare-swap": word.PostCompareSwap(0, 1).Request} {
		if i, err := r.WaitInfo(ctx); err != nil || i.String() != "direct copy, 0 bytes in 0 frames" {
			t.Errorf("%s: %v, %v", name, i, err)
		}
	}
}

// TestDirect: puts, gets and atomics on memory that is lent do what frames do, of any size, and end before the post returns.
func TestDirect(t *testing.T) {
	ctx := testContext(t)
	const size = 21 << 20
	p, mem := overShm(t, size, false)
	key := mem.Key(all)
	frames := p.a.Lanes()[0].PostedBytes
	for _, n := range []int{0, 1, 7, 8, 63, 4096, 512<<10 + 1, 1 << 20, 4 << 20, 4<<20 + 3, 20<<20 + 5} {
		src := pattern(n, byte(n))
		at := uint64(n % 13)
		if err := p.a.Put(ctx, src, key, at); err != nil {
			t.Fatal(err)
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(mem.Bytes()[at:int(at)+n], src) {
			t.Errorf("a put of %d bytes did not arrive", n)
		}
		got := make([]byte, n)
		if err := p.a.Get(ctx, got, key, at); err != nil || !bytes.Equal(got, src) {
			t.Errorf("a get of %d bytes: %v", n, err)
		}
	}
	for n, r := range map[int]braid.Request{8: p.a.PostPut(make([]byte, 8), key, 0), 20 << 20: p.a.PostPut(make([]byte, 20<<20), key, 0)} {
		if i, err := r.WaitInfo(ctx); err != nil || i.Protocol != "direct copy" || i.Bytes != uint64(n) || i.Frames != 0 || i.Lanes() != nil {
			t.Errorf("%d bytes: %v, %v", n, i, err)
		}
	}
	if n := p.a.Lanes()[0].PostedBytes - frames; n > 4096 {
		t.Errorf("%d bytes went by frames", n)
	}
	r := p.a.PostPut([]byte{1}, key, 0)
	if done, err := r.Test(); !done || err != nil {
		t.Errorf("a direct put has not ended when its post returns: %v, %v", done, err)
	}
	mem.Store64(8, 40)
	w := p.a.Word64(key, 8)
	if old, err := w.FetchAdd(ctx, 2); old != 40 || err != nil || mem.Load64(8) != 42 {
		t.Errorf("fetch-add: %d, %v; the word is %d", old, err, mem.Load64(8))
	}
	if old, err := w.CompareSwap(ctx, 42, 5); old != 42 || err != nil || mem.Load64(8) != 5 {
		t.Errorf("compare-swap: %d, %v; the word is %d", old, err, mem.Load64(8))
	}
	if err := p.a.Word32(key, 12).Add(ctx, 3); err != nil || mem.Load64(8) != 5+3<<32 {
		t.Errorf("add of 32 bits: %v; the word is %#x", err, mem.Load64(8))
	}
	if err := p.a.PutSignal(ctx, []byte("data"), key, 64, braid.Signal{Key: key, Offset: 16, Value: 9}); err != nil || mem.Load64(16) != 9 || string(mem.Bytes()[64:68]) != "data" {
		t.Errorf("put with a signal: %v; the word is %d", err, mem.Load64(16))
	}
	if err := p.a.Put(ctx, make([]byte, 9), key, size-8); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("beyond the end: %v", err)
	}
}

// TestE15_DirectEnds: after Deregister nothing is put any more by who has the memory mapped: it is refused, as a frame would be.
func TestE15_DirectEnds(t *testing.T) {
	ctx := testContext(t)
	p, mem := overShm(t, 4096, false)
	key := mem.Key(all)
	if err := p.a.Put(ctx, []byte("before"), key, 0); err != nil {
		t.Fatal(err)
	}
	if err := mem.Deregister(); err != nil {
		t.Fatal(err)
	}
	_ = p.a.Put(ctx, []byte("behind"), key, 0)
	if err := p.a.Flush(ctx); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("a put behind Deregister: %v", err)
	}
	if err := p.a.Get(ctx, make([]byte, 6), key, 0); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("a get behind Deregister: %v", err)
	}
	if got := string(mem.Bytes()[:6]); got != "before" {
		t.Errorf("the memory has %q", got)
	}
	borrowed(t, p, 4096, false) // others can be borrowed still
}

// TestDirectBehindFence: what is behind a fence is not done before what stands before it, and is direct again once that is executed.
func TestDirectBehindFence(t *testing.T) {
	ctx := testContext(t)
	p, mem := overShm(t, 4096, true)
	other, err := p.bn.Register(make([]byte, 64))
	if err != nil {
		t.Fatal(err)
	}
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	direct := func(v uint64) bool {
		before := p.a.Stats().Direct
		p.a.PostPut(word(v), mem.Key(all), 0)
		return p.a.Stats().Direct > before
	}
	for round := range uint64(10) {
		p.a.PostPut(word(round+1), other.Key(braid.Write), 0) // a frame, of whose execution nobody hears here without a turn
		if !direct(100) {
			t.Fatal("without a fence a direct put waits for a frame")
		}
		p.a.Fence()
		if direct(round + 1) {
			t.Fatal("a direct put passes a frame before its fence")
		}
		if err := p.a.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if mem.Load64(0) != round+1 || other.Load64(0) != round+1 {
			t.Fatalf("round %d: %d and %d", round, mem.Load64(0), other.Load64(0))
		}
		p.a.Fence()
		if !direct(100) {
			t.Fatal("with nothing before the fence left, a put goes by a frame")
		}
	}
}
