package tcp

import (
	"math/bits"
	"sync"

	"github.com/openbraid/braid/transport"
)

const (
	chunkLen = 64 << 10  // frames are encoded into these
	readLen  = 256 << 10 // and read into these

	minClass = 16 // 64 KiB
	classes  = 6  // up to 2 MiB, above maxFrame and its header
	poolKeep = 8 << 20
)

// pool keeps buffers, by powers of two from 64 KiB, last in first out so that the next one is still in the cache.
// It has a lock because whoever kept a received buffer may give it back on any goroutine.
type pool struct {
	mu     sync.Mutex
	class  [classes]stack
	closed bool
	free   func(*transport.Buffer)
}

type stack struct{ list []*transport.Buffer }

func newPool() *pool {
	p := &pool{}
	p.free = p.put
	return p
}

func classOf(size int) int { return max(0, bits.Len(uint(size-1))-minClass) }

// get returns a buffer of at least size bytes with one reference.
func (p *pool) get(size int) *transport.Buffer {
	c := classOf(size)
	p.mu.Lock()
	if n := len(p.class[c].list); n > 0 {
		b := p.class[c].list[n-1]
		p.class[c].list[n-1] = nil
		p.class[c].list = p.class[c].list[:n-1]
		p.mu.Unlock()
		b.Revive()
		return b
	}
	p.mu.Unlock()
	return transport.NewBuffer(1<<(c+minClass), p.free)
}

func (p *pool) put(b *transport.Buffer) {
	c := classOf(len(b.Bytes))
	p.mu.Lock()
	if !p.closed && (len(p.class[c].list)+1)*len(b.Bytes) <= poolKeep {
		p.class[c].list = append(p.class[c].list, b)
	}
	p.mu.Unlock()
}

// close lets go of everything; buffers that come back later are dropped.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.class = [classes]stack{}
	p.mu.Unlock()
}
