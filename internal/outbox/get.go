package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// gets are reads of the peer's memory, and the answers to its reads of ours.
type gets struct {
	pend    request.Queue // not asked for whole
	waiting request.Queue // asked for, not answered whole
	asked   int           // answers that the peer owes
	replies replyQueue    // answers that wait for room
	spare   *reply        // pool
}

// PostGet reads len(dst) bytes at offset of the peer's memory that key names.
func (b *Box) PostGet(dst []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("get", outcome.NotExecuted, b.shut)
	}
	if err := b.mayAccess(wire.Read, len(dst), key, offset); err != nil {
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
	for r := g.pend.Head(); r != nil && b.replayAny.len() == 0; r = g.pend.Head() {
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
			protocol.Asked(r, b.Limits)
			g.asked++
			n++
		}
		g.pend.Pop()
		b.leave(r)
		if r.Replies == 0 { // what was not copied from here is answered
			b.gotAll(r)
			b.checkRooms()
			continue
		}
		g.waiting.Push(r)
		if r.Kind == request.Atomic {
			b.landed(r)
		}
		b.checkRooms()
	}
	return n
}

// GetRoom is the memory for the payload of an answer that is about to arrive, nil if nobody wants it; and
// the request whose memory it is.
func (b *Box) GetRoom(h wire.GetData, size int) ([]byte, *request.Request) {
	r := b.get(h.Op)
	if r == nil || h.Code != 0 || h.At > uint64(len(r.Dst)) || uint64(size) > uint64(len(r.Dst))-h.At {
		return nil, nil
	}
	return r.Dst[h.At : h.At+uint64(size) : h.At+uint64(size)], r
}

// get is the get, or the fetch, with the given number, nil if it is not one, or is over.
func (b *Box) get(op uint64) *request.Request {
	if r := b.pool.Find(op); r != nil && r.Fetches() && r.Owner == request.Owner(b) {
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
	if r.Replies == 0 {
		return fmt.Errorf("a second answer to one operation")
	}
	r.Replies--
	switch {
	case h.Code != 0 && r.Err == nil:
		r.Err = b.fail(r.Kind.String(), outcome.NotExecuted, fmt.Errorf("%w: %v", outcome.ErrAccess, h.Code))
	case h.Code == 0 && !placed && r.Dst != nil:
		room, _ := b.GetRoom(h, len(payload))
		if room == nil && len(payload) > 0 {
			return fmt.Errorf("an answer of %d bytes at %d to %s of %d", len(payload), h.At, r.Kind, len(r.Dst))
		}
		copy(room, payload)
	}
	if r.Whole && r.Replies == 0 {
		b.gets.waiting.Remove(r)
		b.gotAll(r)
	}
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
	switch {
	case r.Replies > 0:
		b.gets.waiting.Push(r)
	case r.Frames == 0:
		b.finish(r)
	}
}

// reply is an answer to a get or a fetch of the peer, and the Completer of its frame.
type reply struct {
	b      *Box
	head   wire.GetData
	data   []byte
	region *memory.Region // that data is of; kept until the peer has it
	word   [8]byte        // what data is of otherwise
	next   *reply
}

type replyQueue struct {
	head, tail *reply
	n          int
}

// Sent implements transport.Completer.
func (p *reply) Sent(uint64) {}

// Executed implements transport.Completer: the peer has the answer, or never will.
func (p *reply) Executed(uint64, error) {
	if p.region != nil {
		p.region.Leave()
	}
	b := p.b
	*p = reply{b: b, next: b.gets.spare}
	b.gets.spare = p
}

// Reply answers a get of the peer: with data of a region that was entered for it, or with a reason. It never waits: what can't be
// posted now has a slot, and the peer has credits for so many (R14).
func (b *Box) Reply(h wire.GetData, data []byte, region *memory.Region) error {
	p := b.newReply(h)
	p.data, p.region = data, region
	return b.queueReply(p)
}

func (b *Box) newReply(h wire.GetData) *reply {
	p := b.gets.spare
	if p == nil {
		return &reply{b: b, head: h}
	}
	b.gets.spare = p.next
	p.head, p.next = h, nil
	return p
}

func (b *Box) queueReply(p *reply) error {
	g := &b.gets
	if q := &g.replies; q.tail == nil {
		q.head, q.tail = p, p
	} else {
		q.tail.next, q.tail = p, p
	}
	g.replies.n++
	b.postReplies()
	if g.replies.n > b.OwnCredits {
		return fmt.Errorf("more gets and fetches than this side has promised to answer at a time: %d", b.OwnCredits)
	}
	return nil
}

// postReplies posts answers. They wait behind replays of their kind, and for nothing else.
func (b *Box) postReplies() (n int) {
	w, q := b.scratch, &b.gets.replies
	for q.head != nil && b.replayOther.len() == 0 {
		p := q.head
		l := b.pick(len(p.data))
		if l == nil {
			return n
		}
		w.Frame = transport.Frame{
			ID: wire.IDGetData, Head: p.head.AppendTo(w.Head[:0]), Payload: p.data, Done: p,
			ZeroCopy: b.Limits.ZeroCopy > 0 && len(p.data) >= b.Limits.ZeroCopy,
		}
		if s := l.Tep.Post(&w.Frame); s != transport.Done && s != transport.Pending {
			return n
		}
		if q.head = p.next; q.head == nil {
			q.tail = nil
		}
		p.next = nil
		q.n--
		n++
	}
	if n > 0 {
		b.host.Posted()
	}
	return n
}

// endGets ends what there is.
func (b *Box) endGets(err error) {
	g := &b.gets
	for r := g.waiting.Pop(); r != nil; r = g.waiting.Pop() {
		r.Replies = 0
		if r.Err == nil {
			r.Err = b.fail(r.Kind.String(), outcome.Unknown, err)
		}
		if r.Frames == 0 {
			b.finish(r)
		}
	}
	for r := g.pend.Head(); r != nil; r = r.Next {
		r.Replies = 0
	}
	b.endQueue(&g.pend, err)
	for p := g.replies.head; p != nil; {
		next := p.next
		p.Executed(0, err)
		p = next
	}
	g.replies = replyQueue{}
}
