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
	if n := len(p.class[0]); n != 3 {
		t.Errorf("%d buffers are kept, 3 may be", n)
	}
	b := p.Get(1)
	p.Close()
	b.Release()
	if n := len(p.class[0]); n != 0 {
		t.Errorf("%d buffers are kept by a closed pool", n)
	}
}

func TestNoAllocations(t *testing.T) {
	p := New(1024, 1024, 1<<20)
	p.Get(1).Release()
	if n := testing.AllocsPerRun(100, func() { p.Get(1).Release() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
