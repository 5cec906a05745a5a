package mpool

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

func TestBuffersComeBack(t *testing.T) {
	p := New(1000, 5000, 20_000)
	for _, c := range []struct{ ask, want int }{{0, 1024}, {1, 1024}, {1024, 1024}, {1025, 2048}, {8192, 8192}, {8193, 8193}} {
		b := p.Get(c.ask)
		if len(b.Bytes) != c.want {
			t.Errorf("Get(%d): %d bytes, want %d", c.ask, len(b.Bytes), c.want)
		}
		b.Release()
	}
	a := p.Get(4000)
	b := p.Get(4000)
	if a == b {
		t.Fatal("one buffer for two")
	}
	a.Retain()
	a.Release()
	if c := p.Get(4000); c == a {
		t.Fatal("somebody still has it")
	}
	a.Release()
	if c := p.Get(4000); c != a {
		t.Fatal("the last one that came back is not the next one to go")
	}
}

func TestClassesAreBounded(t *testing.T) {
	p := New(1024, 1024, 3*1024)
	var all []*transport.Buffer
	for range 10 {
		all = append(all, p.Get(1))
	}
	for _, b := range all {
		b.Release()
	}
	if n := len(p.class[0].spare); n != 3 {
		t.Errorf("%d buffers are kept, 3 may be", n)
	}
	b := p.Get(1)
	p.Close()
	b.Release()
	if n := len(p.class[0].spare); n != 0 {
		t.Errorf("%d buffers are kept by a closed pool", n)
	}
}

// TestAllIsBounded: after a burst of all sizes no more is kept than the bound says, and what is needed from then on is kept, whatever
// else the burst left behind.
func TestAllIsBounded(t *testing.T) {
	const keep = 64 << 10
	p := New(1024, 1<<20, keep)
	kept := func() (n int) {
		for _, k := range p.class {
			for _, b := range k.spare {
				n += len(b.Bytes)
			}
		}
		if n != p.held || n > keep {
			t.Fatalf("%d bytes are kept, %d counted, %d may be", n, p.held, keep)
		}
		return n
	}
	var all []*transport.Buffer
	for size := 1; size <= 1<<20; size *= 2 {
		for range 20 {
			all = append(all, p.Get(size))
		}
	}
	for _, b := range all {
		b.Release()
		kept()
	}
	if kept() < keep/2 {
		t.Errorf("only %d bytes are kept of %d", kept(), keep)
	}
	for _, size := range []int{keep, 1024, keep / 2, 2048} {
		a := p.Get(size)
		a.Release()
		kept()
		if b := p.Get(size); b != a {
			t.Errorf("of %d bytes none is kept", size)
		} else {
			b.Release()
		}
	}
}

// TestLargest: no class is larger than what may be kept, and beyond it nothing is rounded up.
func TestLargest(t *testing.T) {
	for _, c := range []struct{ keep, ask, want int }{
		{4096, 4096, 4096}, {4096, 4097, 4097}, {8191, 4096, 4096}, {8191, 4097, 4097}, {1 << 20, 8191, 8192}, {1 << 20, 8193, 8193}, {0, 3, 3},
	} {
		b := New(1024, 8192, c.keep).Get(c.ask)
		if len(b.Bytes) != c.want {
			t.Errorf("a pool that keeps %d: Get(%d) has %d bytes, want %d", c.keep, c.ask, len(b.Bytes), c.want)
		}
		b.Release()
	}
}

func TestNoAllocations(t *testing.T) {
	p := New(1024, 1024, 1<<20)
	p.Get(1).Release()
	if n := testing.AllocsPerRun(100, func() { p.Get(1).Release() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
