package sim

import (
	"math/bits"
	"sync"

	"github.com/openbraid/braid/transport"
)

// pool keeps buffers by size class, 64 bytes and up. It has a lock because a receiver may
// release a buffer from another goroutine; what it hands out never changes what happens, only where bytes lie.
type pool struct {
	mu   sync.Mutex
	free [24][]*transport.Buffer
	out  int
}

func class(size int) int { return max(0, bits.Len(uint(max(size, 1)-1))-6) }

func (p *pool) get(size int) *transport.Buffer {
	c := class(size)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out++
	if n := len(p.free[c]); n > 0 {
		b := p.free[c][n-1]
		p.free[c] = p.free[c][:n-1]
		b.Revive()
		return b
	}
	return transport.NewBuffer(64<<c, p.put)
}

// put poisons what it takes back: whoever still reads it sees that at once.
func (p *pool) put(b *transport.Buffer) {
	for i := range min(len(b.Bytes), 16) {
		b.Bytes[i] = 0xdb
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out--
	c := class(len(b.Bytes))
	p.free[c] = append(p.free[c], b)
}
