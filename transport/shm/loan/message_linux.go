package loan

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/cma"
)

// Memory that can be lent is also read by peers to whom it is sent from: the sender says that there is such memory, the receiver asks for it as for any, under a key of the
// transport's own, and says when he has it. From then on a frame names the memory and an offset in place of its payload.
//
//	sender ── ring: flagReads, key: I send from this memory ──> receiver ── ring: flagAsk, key ──> sender
//	       ── socket: memory, for reading ──> receiver ── ring: flagResume, key: I have it ──> sender

// messages is what the keys of such memory have behind its number.
const messages = "sent from it"

// NumberKey is the key under which memory is lent that is sent from.
func NumberKey(number uint32) (key transport.MemKey) {
	binary.LittleEndian.PutUint32(key[:], number)
	copy(key[4:], messages)
	return key
}

// number is the reverse.
func number(key transport.MemKey) (n uint32, ok bool) {
	return binary.LittleEndian.Uint32(key[:]), string(key[4:]) == messages
}

// source is memory that is sent from, as one connection knows it.
type source struct {
	x    *export
	here bool // the peer has it
}

// Place is where a payload stands.
type Place struct {
	Number uint32 // of the memory
	Offset uint64
}

// where says where in memory that can be lent a payload stands.
func (l *Desk) where(b []byte) (x *export, offset uint64) {
	if l.lendable.Load() == 0 {
		return nil, 0
	}
	at := cma.Address(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	i, found := slices.BinarySearchFunc(l.exports, at, func(x *export, at uint64) int {
		switch begin := cma.Address(x.bytes); {
		case begin > at:
			return 1
		case begin+uint64(len(x.bytes)) <= at:
			return -1
		}
		return 0
	})
	if !found {
		return nil, 0
	}
	x = l.exports[i]
	if offset = at - cma.Address(x.bytes); offset+uint64(len(b)) > uint64(len(x.bytes)) {
		return nil, 0
	}
	return x, offset
}

// list and unlist keep the exports in the order of their addresses. With the lock.
func (l *Desk) list(x *export) {
	i, _ := slices.BinarySearchFunc(l.exports, cma.Address(x.bytes), func(y *export, at uint64) int {
		if cma.Address(y.bytes) < at {
			return -1
		}
		return 1
	})
	l.exports = slices.Insert(l.exports, i, x)
	l.made++
	x.number = l.made
	l.lendable.Add(1)
}

func (l *Desk) unlist(x *export) {
	if i := slices.Index(l.exports, x); i >= 0 {
		l.exports = slices.Delete(l.exports, i, i+1)
		l.lendable.Add(-1)
	}
}

// piece is how much is copied at once: a copy of 1 MiB and more goes past the caches, which pays from 8 MiB on.
const piece = 512 << 10

// ErrNot: the memory is not lent, or not any more.
var ErrNot = errors.New("the memory that it stands in is not lent, or not any more")

// Read copies from memory that the peer sends from.
//
// Errors: ErrNot, also of what is not inside.
func (b *Borrowed) Read(dst []byte, number uint32, offset uint64) error {
	w, _ := b.Find(NumberKey(number))
	if w == nil {
		return ErrNot
	}
	mem := w.Enter()
	if mem == nil {
		return ErrNot
	}
	defer w.Leave()
	if offset > uint64(len(mem)) || uint64(len(dst)) > uint64(len(mem))-offset {
		return ErrNot
	}
	for src := mem[offset:]; len(dst) > 0; {
		n := copy(dst, src[:min(len(dst), piece)])
		dst, src = dst[n:], src[n:]
	}
	return nil
}

// mostSources is how much memory a connection sends from in this way.
const mostSources = 64

// Source says where a payload stands that the peer can read by himself; here: he has that memory. tell: he is to be told of it, now.
func (t *Lent) Source(d *Desk, b []byte) (p Place, here, tell bool) {
	x, offset := d.where(b)
	if x == nil {
		return p, false, false
	}
	p = Place{x.number, offset}
	s := t.sources[x.number]
	if s == nil && len(t.sources) >= mostSources {
		t.forget(d)
	}
	if s == nil && len(t.sources) < mostSources {
		if t.sources == nil {
			t.sources = map[uint32]*source{}
		}
		t.sources[x.number] = &source{x: x}
		return p, false, true
	}
	return p, s != nil && s.here, false
}

// forget forgets memory that is not lent any more.
func (t *Lent) forget(d *Desk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for n, s := range t.sources { // in any order
		if s.x.revoked {
			delete(t.sources, n)
		}
	}
}

// Sent is the loan for the key of memory that the peer was told of.
func (t *Lent) Sent(key transport.MemKey) (l transport.Loan, ok bool) {
	n, ok := number(key)
	if s := t.sources[n]; ok && s != nil {
		return transport.Loan{Export: s.x}, true
	}
	return l, false
}

// Has notes that the peer has that memory. It may have been revoked meanwhile.
func (t *Lent) Has(key transport.MemKey) {
	if n, ok := number(key); ok && t.sources[n] != nil {
		t.sources[n].here = true
	}
}
