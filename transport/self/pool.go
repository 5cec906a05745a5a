package self

import (
	"math/bits"
	"sync"

	"github.com/openbraid/braid/transport"
)

const (
	minClass = 7  // 128 bytes
	classes  = 15 // the last one is for whole frames
	poolKeep = 8 << 20
)

// pool keeps buffers by powers of two. The owner's own lists need neither lock nor counting: a buffer that nobody else
// kept goes from frame to frame with its one reference. Only what a receiver kept comes back through the lock.
type pool struct {
	own  [classes][]*transport.Buffer
	made int // for tests: all that ever were

	mu   sync.Mutex
	back [classes][]*transport.Buffer // released, by whom and where ever
	free func(*transport.Buffer)
}

func newPool() *pool {
	p := &pool{}
	p.free = p.released
	return p
}

func classOf(size int) int { return max(0, bits.Len(uint(max(size, 1)-1))-minClass) }

func sizeOf(class int) int { return min(1<<(class+minClass), maxFrame) }

// keeps says whether a list of n buffers of a class may get one more.
func keeps(n, class int) bool { return (n+1)*sizeOf(class) <= poolKeep }

// get returns a buffer of at least size bytes with one reference.
func (p *pool) get(size int) *transport.Buffer {
	c := classOf(size)
	list := p.own[c]
	if len(list) == 0 {
		if list = p.returned(c); len(list) == 0 {
			p.made++
			return transport.NewBuffer(sizeOf(c), p.free)
		}
	}
	last := len(list) - 1
	b := list[last]
	list[last] = nil
	p.own[c] = list[:last]
	return b
}

// returned is what was released since the last look.
func (p *pool) returned(c int) []*transport.Buffer {
	p.mu.Lock()
	p.own[c], p.back[c] = p.back[c], p.own[c]
	p.mu.Unlock()
	for _, b := range p.own[c] {
		b.Revive()
	}
	return p.own[c]
}

// give gives the caller's reference back.
func (p *pool) give(b *transport.Buffer) {
	if b.Shared() {
		b.Release()
		return
	}
	if c := classOf(len(b.Bytes)); keeps(len(p.own[c]), c) {
		p.own[c] = append(p.own[c], b)
	}
}

// released takes a buffer whose last reference is gone. It may run on any goroutine.
func (p *pool) released(b *transport.Buffer) {
	c := classOf(len(b.Bytes))
	p.mu.Lock()
	if keeps(len(p.back[c]), c) {
		p.back[c] = append(p.back[c], b)
	}
	p.mu.Unlock()
}
