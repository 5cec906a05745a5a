package frames

import (
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	arenaLen = 64 << 10 // small frames are copied into buffers of this size

	// Large: a frame of more has a buffer of its own.
	Large = 8 << 10
)

// Arena is private memory for what arrives. The zero value is ready.
type Arena struct {
	buf  *transport.Buffer
	fill int
	have int // references to buf that nobody has: each is taken and given back without an atomic operation
}

// stock is how many references are made at once.
const stock = 1 << 16

// Memory is n bytes of private memory, and the buffer that they are in, with a reference for who asks.
func (a *Arena) Memory(p *mpool.Pool, n int) ([]byte, *transport.Buffer) {
	if n > Large {
		b := p.Get(n)
		return b.Bytes[:n:n], b
	}
	switch {
	case a.buf == nil:
		a.begin(p)
	case !a.buf.Beyond(a.have):
		a.fill = 0
	case a.fill+n > len(a.buf.Bytes):
		a.Drop()
		a.begin(p)
	}
	if a.have == 1 { // the last one is the arena's own
		a.buf.Give(stock)
		a.have += stock
	}
	a.have--
	at := a.fill
	a.fill += n
	return a.buf.Bytes[at : at+n : at+n], a.buf
}

func (a *Arena) begin(p *mpool.Pool) { a.buf, a.fill, a.have = p.Get(arenaLen), 0, 1 }

// Back gives back a reference to a buffer that Memory returned.
func (a *Arena) Back(b *transport.Buffer) {
	if b == a.buf {
		a.have++
		return
	}
	b.Release()
}

// Drop lets go of what is left.
func (a *Arena) Drop() {
	if a.buf != nil {
		a.buf.Take(a.have)
		a.buf, a.have = nil, 0
	}
}

// Partial is a frame of which pieces came, and more will. The zero value is none.
type Partial struct {
	H      ring.Header // of its first piece
	Left   int
	Head   []byte
	Place  []byte // of its payload
	Filled int
	Placed bool
	Buf    *transport.Buffer // holds Head, and Place unless it is placed
}

// Drop forgets it.
func (p *Partial) Drop() {
	if p.Buf != nil {
		p.Buf.Release()
	}
	*p = Partial{}
}

// Unplace goes on in memory of our own.
func (p *Partial) Unplace() {
	if !p.Placed {
		return
	}
	mem := make([]byte, len(p.Place))
	copy(mem, p.Place[:p.Filled])
	p.Place, p.Placed = mem, false
}

// More takes a further piece.
func (p *Partial) More(body []byte) (whole bool) {
	p.Filled += copy(p.Place[p.Filled:], body)
	p.Left -= len(body)
	return p.Left == 0
}

// Again begins with its first piece once more, of which body is what comes behind the head.
func (p *Partial) Again(body []byte) (whole bool) {
	p.Filled, p.Left = 0, len(p.Place)
	return p.More(body)
}
