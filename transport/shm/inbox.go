//go:build linux

package shm

import (
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/ring"
)

const (
	inboxLen = 64 << 10 // small frames are copied into buffers of this size
	largeIn  = 8 << 10  // a frame from this size on has one of its own
)

// inbox is what has arrived and is not accepted yet: private memory, and a frame of which not all pieces are there.
type inbox struct {
	buf  *transport.Buffer
	fill int

	data, control partial

	accepted, acceptedBytes uint64
	taking                  bool // the sink is taking a data frame right now
	takingSize              uint32
}

// partial is a frame of which pieces came, and more will.
type partial struct {
	h      ring.Header // of its first piece; Size 0: there is none
	left   int
	head   []byte
	place  []byte // of its payload
	filled int
	placed bool
	buf    *transport.Buffer // holds head, and place unless it is placed
}

// accept counts the frame that the sink has taken, or is answerable for: once.
func (in *inbox) accept() {
	if in.taking {
		in.accepted++
		in.acceptedBytes += uint64(in.takingSize)
		in.taking = false
	}
}

// memory is n bytes of private memory, and the buffer that they are in, with a reference for who asks.
func (in *inbox) memory(p *mpool.Pool, n int) ([]byte, *transport.Buffer) {
	if n > largeIn {
		b := p.Get(n)
		return b.Bytes[:n:n], b
	}
	switch {
	case in.buf == nil:
		in.buf, in.fill = p.Get(inboxLen), 0
	case !in.buf.Shared():
		in.fill = 0
	case in.fill+n > len(in.buf.Bytes):
		in.buf.Release()
		in.buf, in.fill = p.Get(inboxLen), 0
	}
	at := in.fill
	in.fill += n
	in.buf.Retain()
	return in.buf.Bytes[at : at+n : at+n], in.buf
}

// drop lets go of everything.
func (in *inbox) drop() {
	in.data.drop()
	in.control.drop()
	if in.buf != nil {
		in.buf.Release()
		in.buf = nil
	}
}

func (p *partial) drop() {
	if p.buf != nil {
		p.buf.Release()
	}
	*p = partial{}
}

// unplace goes on in memory of our own.
func (p *partial) unplace() {
	if !p.placed {
		return
	}
	mem := make([]byte, len(p.place))
	copy(mem, p.place[:p.filled])
	p.place, p.placed = mem, false
}

// more takes a further piece.
func (p *partial) more(body []byte) (whole bool) {
	p.filled += copy(p.place[p.filled:], body)
	p.left -= len(body)
	return p.left == 0
}
