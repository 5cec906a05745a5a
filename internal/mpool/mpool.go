package mpool

import (
	"math/bits"
	"sync"

	"github.com/openbraid/braid/transport"
)

// Pool keeps buffers by powers of two, last in first out so that the next one is still in the cache.
// It has a lock because whoever kept a buffer may give it back on any goroutine.
type Pool struct {
	mu     sync.Mutex
	class  []class
	least  int    // log2 of the smallest class
	keep   int    // bytes that all classes together may keep
	held   int    // bytes that they keep
	turn   uint64 // buffers handed out and given back
	closed bool
	free   func(*transport.Buffer)

	// OnFree is called with each buffer that comes back: for tests that spoil them. Set it before the first Get.
	OnFree func(*transport.Buffer)
}

type class struct {
	spare []*transport.Buffer
	used  uint64 // the turn when one was last handed out or given back
}

// New makes a pool of buffers of least to most bytes, both rounded up to powers of two, that keeps at most keep bytes, all sizes
// together. There is no class of buffers larger than that.
func New(least, most, keep int) *Pool {
	p := &Pool{least: log2(least), keep: keep}
	top := min(log2(most), bits.Len(uint(keep))-1)
	p.class = make([]class, max(0, top-p.least+1))
	p.free = p.put
	return p
}

func log2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// Get returns a buffer of at least size bytes with one reference. What is larger than the largest class is made for once, with exactly
// that size.
func (p *Pool) Get(size int) *transport.Buffer {
	c := max(0, log2(size)-p.least)
	if c >= len(p.class) {
		return transport.NewBuffer(size, nil)
	}
	p.mu.Lock()
	k := p.touch(c)
	if len(k.spare) > 0 {
		b := p.pop(k)
		p.mu.Unlock()
		b.Revive()
		return b
	}
	p.mu.Unlock()
	return transport.NewBuffer(1<<(c+p.least), p.free)
}

func (p *Pool) touch(c int) *class {
	p.turn++
	p.class[c].used = p.turn
	return &p.class[c]
}

func (p *Pool) pop(k *class) *transport.Buffer {
	n := len(k.spare) - 1
	b := k.spare[n]
	k.spare[n] = nil
	k.spare = k.spare[:n]
	p.held -= len(b.Bytes)
	return b
}

func (p *Pool) put(b *transport.Buffer) {
	if p.OnFree != nil {
		p.OnFree(b)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	k := p.touch(log2(len(b.Bytes)) - p.least)
	for p.held+len(b.Bytes) > p.keep {
		stale := p.stalest()
		if stale == k {
			return
		}
		p.pop(stale)
	}
	k.spare = append(k.spare, b)
	p.held += len(b.Bytes)
}

// stalest is the class that keeps something and was not used for longest: what a burst left behind makes room for what is needed now.
func (p *Pool) stalest() *class {
	var stale *class
	for i := range p.class {
		if k := &p.class[i]; len(k.spare) > 0 && (stale == nil || k.used < stale.used) {
			stale = k
		}
	}
	return stale
}

// Close lets go of everything; buffers that come back later are dropped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	clear(p.class)
	p.held = 0
	p.mu.Unlock()
}
