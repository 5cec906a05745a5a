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
}

// Memory is n bytes of private memory, and the buffer that they are in, with a reference for who asks.
func (a *Arena) Memory(p *mpool.Pool, n int) ([]byte, *transport.Buffer) {
	if n > Large {
		b := p.Get(n)
		return b.Bytes[:n:n], b
	}
	switch {
	case a.buf == nil:
		a.buf, a.fill = p.Get(arenaLen), 0
	case !a.buf.Shared():
		a.fill = 0
	case a.fill+n > len(a.buf.Bytes):
		a.buf.Release()
		a.buf, a.fill = p.Get(arenaLen), 0
	}
	at := a.fill
	a.fill += n
	a.buf.Retain()
	return a.buf.Bytes[at : at+n : at+n], a.buf
}

// Drop lets go of what is left.
func (a *Arena) Drop() {
	if a.buf != nil {
		a.buf.Release()
		a.buf = nil
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
