package arrivals

import (
	"errors"

	"github.com/openbraid/braid/internal/request"
)

// MaxBacklog is how many endpoints may wait to be accepted.
const MaxBacklog = 1024

// Why an endpoint can't be begun.
var (
	ErrFull   = errors.New("too many endpoints wait to be accepted")
	ErrTwice  = errors.New("the same Hello waits to be confirmed already")
	ErrClosed = errors.New("the listener is closed")
)

// Backlog is the endpoints that peers have begun at one listener and that nobody has accepted, or who waits for one.
type Backlog[E comparable] struct {
	proving []offer[E] // their first lane is to be confirmed
	waiting []E
	accepts request.Queue
	closed  bool
	Unasked bool // nobody accepts: endpoints are there, and don't wait
}

// offer is an endpoint by the nonce of the Hello that began it.
type offer[E comparable] struct {
	ep    E
	nonce [16]byte
}

// Refuses says why no endpoint can be begun by a Hello with this nonce. Who has recorded one, and sends it again and again, gets one place.
func (b *Backlog[E]) Refuses(nonce [16]byte) error {
	switch {
	case b.closed:
		return ErrClosed
	case len(b.waiting)+len(b.proving) >= MaxBacklog:
		return ErrFull
	}
	for i := range b.proving {
		if b.proving[i].nonce == nonce {
			return ErrTwice
		}
	}
	return nil
}

// Begin adds an endpoint that has no lane yet.
func (b *Backlog[E]) Begin(ep E, nonce [16]byte) { b.proving = append(b.proving, offer[E]{ep, nonce}) }

// Arrived says that an endpoint has its first lane. It returns who has waited for it longest; nil: nobody does, and it waits.
func (b *Backlog[E]) Arrived(ep E) *request.Request {
	b.Gone(ep)
	r := b.accepts.Pop()
	if r == nil && !b.Unasked {
		b.waiting = append(b.waiting, ep)
	}
	return r
}

// Next takes out the endpoint that has waited longest.
func (b *Backlog[E]) Next() (ep E, ok bool) {
	if len(b.waiting) == 0 {
		return ep, false
	}
	ep = b.waiting[0]
	b.waiting = b.waiting[1:]
	return ep, true
}

// Wait adds who waits for the next one, Cancel takes him out and says whether he was there.
func (b *Backlog[E]) Wait(r *request.Request)        { b.accepts.Push(r) }
func (b *Backlog[E]) Cancel(r *request.Request) bool { return b.accepts.Remove(r) }

// Gone takes out an endpoint that has ended, and says whether nobody was given it: it waited to be accepted, or nobody accepts.
func (b *Backlog[E]) Gone(ep E) (waited bool) {
	for i := range b.proving {
		if b.proving[i].ep == ep {
			b.proving = append(b.proving[:i], b.proving[i+1:]...)
			return false
		}
	}
	for i := range b.waiting {
		if b.waiting[i] == ep {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			return true
		}
	}
	return b.Unasked
}

// Close ends it, and takes all out: endpoints that nobody will accept, and who waits for one.
func (b *Backlog[E]) Close() (left []E, accepts []*request.Request) {
	left = b.waiting
	for i := range b.proving {
		left = append(left, b.proving[i].ep)
	}
	for r := b.accepts.Pop(); r != nil; r = b.accepts.Pop() {
		accepts = append(accepts, r)
	}
	b.waiting, b.proving, b.closed = nil, nil, true
	return left, accepts
}
