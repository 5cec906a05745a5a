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
	class  [][]*transport.Buffer
	least  int // log2 of the smallest class
	keep   int // bytes that a class may keep
	closed bool
	free   func(*transport.Buffer)

	// OnFree is called with each buffer that comes back: for tests that spoil them. Set it before the first Get.
	OnFree func(*transport.Buffer)
}

// New makes a pool of buffers of least to most bytes, both rounded up to powers of two, that keeps at most keep bytes of each size.
func New(least, most, keep int) *Pool {
	p := &Pool{least: log2(least), keep: keep}
	p.class = make([][]*transport.Buffer, log2(most)-p.least+1)
	p.free = p.put
	return p
}

func log2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// Get returns a buffer of at least size bytes with one reference. What is larger than the largest class is made for once.
func (p *Pool) Get(size int) *transport.Buffer {
	c := max(0, log2(size)-p.least)
	if c >= len(p.class) {
		return transport.NewBuffer(size, nil)
	}
	p.mu.Lock()
	if n := len(p.class[c]); n > 0 {
		b := p.class[c][n-1]
		p.class[c][n-1] = nil
		p.class[c] = p.class[c][:n-1]
		p.mu.Unlock()
		b.Revive()
		return b
	}
	p.mu.Unlock()
	return transport.NewBuffer(1<<(c+p.least), p.free)
}

func (p *Pool) put(b *transport.Buffer) {
	c := log2(len(b.Bytes)) - p.least
	if p.OnFree != nil {
		p.OnFree(b)
	}
	p.mu.Lock()
	if !p.closed && (len(p.class[c])+1)*len(b.Bytes) <= p.keep {
		p.class[c] = append(p.class[c], b)
	}
	p.mu.Unlock()
}

// Close lets go of everything; buffers that come back later are dropped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	clear(p.class)
	p.mu.Unlock()
}
