package loan

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/segment"
)

// mostExports is how much memory may be lent at a time, in pieces: each has a descriptor.
const mostExports = 512

// ErrMany: no more memory can be lent.
var ErrMany = errors.New("too much memory is lent already")

// Desk is what the interfaces of a transport have in common: the memory that they lend. The zero value is ready.
type Desk struct {
	mu       sync.Mutex
	count    int
	exports  []*export     // by address
	made     uint32        // number of the last one
	lendable atomic.Int32  // how many there are, for who has not the lock
	parted   []*tie        // of connections that ended here first
	news     atomic.Uint32 // grows when something was revoked
}

// News changes when something was revoked: then peers are to be told, by Lent.Revoked.
func (l *Desk) News() uint32 { return l.news.Load() }

// Open is how much there is: pieces of memory that can be lent, and sockets of connections that ended here and not yet there.
func (l *Desk) Open() (exports, sockets int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count, len(l.parted)
}

// export is memory that can be lent.
type export struct {
	of      *Desk
	bytes   []byte
	heap    *segment.Heap
	loans   []*loan // by gate
	number  uint32  // tells it from others, now and before
	revoked bool
}

// loan is one borrower's.
type loan struct {
	x    *export
	key  transport.MemKey
	gate *atomic.Uint32 // nil: nobody passes it any more
	tie  *tie
}

// tie is a connection as what was lent over it sees it. Its end is the borrower's word that he copies nothing any more.
type tie struct {
	fd    int // the socket, once this side has hung up; -1 before, and when it is closed
	ended bool
	loans []*loan // that there were then
}

// over looks whether the peer is gone.
func (t *tie) over() bool {
	if t.fd >= 0 && segment.Drain(t.fd) {
		t.close()
		t.ended = true
	}
	return t.ended
}

func (t *tie) close() {
	if t.fd >= 0 {
		unix.Close(t.fd)
		t.fd = -1
	}
}

// Export makes memory that can be lent.
//
// Errors: ErrMany; those of segment.NewHeap.
func (l *Desk) Export(size int) (transport.Export, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= mostExports {
		return nil, fmt.Errorf("%w: %d pieces", ErrMany, mostExports)
	}
	h, err := segment.NewHeap(size)
	if err != nil {
		return nil, err
	}
	l.count++
	x := &export{of: l, bytes: h.Bytes(), heap: h, loans: make([]*loan, h.Gates())}
	l.list(x)
	return x, nil
}

// Bytes implements transport.Export.
func (x *export) Bytes() []byte { return x.bytes }

// Revoke implements transport.Export.
func (x *export) Revoke() (idle bool) {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if !x.revoked {
		x.revoked = true
		x.of.count--
		x.of.unlist(x)
		x.of.news.Add(1)
	}
	idle = true
	for i, l := range x.loans {
		switch {
		case l == nil:
		case l.shut() && !l.tie.over():
			idle = false
		default:
			l.gate, x.loans[i] = nil, nil
		}
	}
	if idle {
		x.heap.Close()
	}
	return idle
}

// shut lets the borrower in no more, and says whether he is inside.
func (l *loan) shut() (inside bool) {
	return l.gate.Or(transport.GateShut)&transport.GateInside != 0
}

// lend gives a borrower a gate, and the memory over the socket fd; nil: there is none left, or no access any more, or he doesn't read.
func (x *export) lend(fd int, what transport.Loan, key transport.MemKey, t *tie) *loan {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if x.revoked {
		return nil
	}
	i := slices.IndexFunc(x.loans, func(l *loan) bool { return l == nil || l.tie.over() })
	if i < 0 {
		return nil
	}
	l := &loan{x: x, key: key, gate: x.heap.Gate(i), tie: t}
	l.gate.Store(0)
	if segment.Send(fd, offerOf(what, key, i, x.heap.Size()).bytes(), x.heap.FD()) != nil {
		x.loans[i] = nil
		return nil
	}
	x.loans[i] = l
	return l
}

// part ends what was lent over a connection. The socket is the tie's from now on, and closed when the peer has ended.
func (l *Desk) part(loans []*loan, t *tie, fd int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.fd, t.loans = fd, loans
	t.inside()
	if !t.over() {
		_ = unix.Shutdown(fd, unix.SHUT_WR)
		l.parted = append(l.parted, t)
	}
}

// inside shuts the gates, and says whether the borrower is inside of one.
func (t *tie) inside() (inside bool) {
	for _, l := range t.loans {
		inside = l.gate != nil && l.shut() || inside
	}
	return inside
}

// Reap closes the sockets of peers that are gone. With all, of those also that are not inside: their gates are nobody else's then.
func (l *Desk) Reap(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parted = slices.DeleteFunc(l.parted, func(t *tie) bool {
		if !t.over() && all && !t.inside() {
			t.close()
		}
		return t.fd < 0
	})
}
