package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// gets are reads of the peer's memory.
type gets struct {
	pend    request.Queue // not asked for whole
	waiting request.Queue // asked for, not answered whole
	asked   int           // answers that the peer owes
	told    request.Queue // messages that the peer has read, and whose memory a lane still needs
}

// PostGet reads len(dst) bytes at offset of the peer's memory that key names.
func (b *Box) PostGet(dst []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("get", outcome.NotExecuted, b.shut)
	}
	if err := b.MayAccess(wire.Read, len(dst), key, offset); err != nil {
		return nil, b.fail("get", outcome.NotExecuted, err)
	}
	if b.free(b.book.Barrier(), len(dst)) && b.reach.Get(dst, &key, offset) {
		b.Gets++
		return nil, nil
	}
	if err := b.full("get", &b.gets.pend, len(dst)); err != nil {
		return nil, err
	}
	r := b.pool.Get(request.Get, b)
	r.Payload, r.Dst, r.Key, r.Offset = dst, dst, key, offset
	b.Gets++
	b.wait(&b.gets.pend, r)
	b.host.Posted()
	b.postGets()
	return r, nil
}

// postGets asks for as much as the peer has promised to answer.
func (b *Box) postGets() (n int) {
	w, g := b.scratch, &b.gets
	for r := g.pend.Head(); r != nil && b.replayAny.Len() == 0; r = g.pend.Head() {
		barrier := b.book.BarrierOf(r.Epoch)
		for !r.Whole {
			if b.directPart(r) {
				if n++; !r.Whole {
					return n
				}
				break
			}
			if g.asked >= b.Credits { // R14
				return n
			}
			l := b.laneFor(false, barrier, wire.GetSize)
			if l == nil {
				return n
			}
			protocol.Next(r, b.Limits, w.Head[:0], &w.Frame)
			w.Frame.Tag = l.id
			if l.Tep.Post(&w.Frame) != transport.Done {
				return n
			}
			l.place.Enter(r.Epoch)
			l.touch(r.Key.Index, r.Epoch)
			protocol.Asked(r, b.Limits, &w.Frame, l.ID)
			g.asked++
			n++
		}
		g.pend.Pop()
		b.leave(r)
		if r.Replies == 0 { // what was not copied from here is answered
			b.gotAll(r)
		} else {
			g.waiting.Push(r)
			if r.Kind == request.Atomic {
				b.landed(r)
			}
		}
		b.checkRooms()
	}
	return n
}

// GetRoom is the memory for the payload of an answer that is about to arrive, nil if nobody wants it; and the request whose memory it is.
func (b *Box) GetRoom(h wire.GetData, size int) ([]byte, *request.Request) {
	if r := b.get(h.Op); r != nil && h.Code == 0 && !r.Put && r.Replies > 0 {
		return r.Into(h.At, size), r
	}
	return nil, nil
}

// tookBack is how a receive ends whose message its sender did not want to wait for.
func (b *Box) tookBack(r *request.Request) error {
	return b.fail(r.Name(), outcome.Unknown, fmt.Errorf("%w: the sender took the message back while it was read", outcome.ErrCanceled))
}

// get is the get, or the fetch, with the given number, nil if it is not one, or is over.
func (b *Box) get(op uint64) *request.Request {
	if r := b.pool.Find(op, b); r != nil && r.Fetches() {
		return r
	}
	return nil
}

// Answered takes an answer. The error says that the peer can't have sent it.
func (b *Box) Answered(h wire.GetData, payload []byte, placed bool) error {
	if b.gets.asked == 0 {
		return fmt.Errorf("an answer that nobody asked for")
	}
	b.gets.asked--
	b.host.Wake() // there is a credit again
	r := b.get(h.Op)
	if r == nil {
		return nil // its user did not want to wait, and all else of it is over
	}
	if r.Replies == 0 || r.Put {
		return fmt.Errorf("a second answer to one operation, or one to a receive that asks for none")
	}
	r.Replies--
	switch {
	case h.Code != 0 && r.Kind == request.Receive:
		r.Err = b.tookBack(r)
	case h.Code != 0 && r.Err == nil:
		r.Err = b.fail(r.Kind.String(), outcome.NotExecuted, fmt.Errorf("%w: %v", outcome.ErrAccess, h.Code))
	case h.Code == 0 && !placed && r.Dst != nil:
		room := r.Into(h.At, len(payload))
		if room == nil && len(payload) > 0 {
			return fmt.Errorf("an answer of %d bytes at %d to %s of %d", len(payload), h.At, r.Kind, len(r.Dst))
		}
		copy(room, payload)
	}
	if r.Whole && r.Replies == 0 {
		return b.arrived(r)
	}
	return nil
}

// arrived: all that a get, or a receive, waited for is here. The error says that this can't be: an honest peer sends each byte on one lane.
func (b *Box) arrived(r *request.Request) error {
	if b.host.Lands(r) {
		return fmt.Errorf("the last bytes of a %s, while another lane still brings some", r.Name())
	}
	b.gets.waiting.Remove(r)
	b.gotAll(r)
	return nil
}

// gotAll: a get, or a fetch, has what it asked for.
func (b *Box) gotAll(r *request.Request) {
	b.report(r, r.Err)
	if r.Frames == 0 {
		b.finish(r)
	}
}

// letGoGet ends a get for a user who wants his memory back: answers that still come are dropped.
func (b *Box) letGoGet(r *request.Request) {
	r.Dst, r.Payload = nil, nil
	if !b.gets.pend.Remove(r) {
		return
	}
	r.Whole = true // nothing more is asked for
	b.host.Wake()  // there is room
	switch {
	case r.Replies > 0:
		b.gets.waiting.Push(r)
	case r.Frames == 0:
		b.finish(r)
	}
}

// endGets ends what there is.
func (b *Box) endGets(err error) {
	g := &b.gets
	for _, q := range []*request.Queue{&g.waiting, &g.told} {
		for r := q.Pop(); r != nil; r = q.Pop() {
			r.Replies = 0
			if r.Err == nil && !r.Told {
				r.Err = b.fail(r.Name(), outcome.Unknown, err)
			}
			if r.Frames == 0 {
				b.finish(r)
			}
		}
	}
	b.endQueue(&g.pend, err)
}
