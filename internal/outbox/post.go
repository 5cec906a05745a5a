package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// The posting calls return nil, nil if the user's end of the operation is reached already, a request if it
// isn't, and an error if nothing was taken.

// amDone and putDone are a lane as the Completer of frames that have no request; the tag is the epoch.
type (
	amDone  seat
	putDone seat
)

func (d *amDone) Sent(uint64) {}
func (d *amDone) Executed(epoch uint64, _ error) {
	s := (*seat)(d)
	s.b.orderedLeft()
	s.b.retire(s, epoch)
}

func (d *putDone) Sent(uint64)                    {}
func (d *putDone) Executed(epoch uint64, _ error) { s := (*seat)(d); s.b.retire(s, epoch) }

// full says that no more may wait. One operation always may, however large it is.
func (b *Box) full(op string, q *request.Queue, n int) error {
	if q.Len() < b.Pending && (b.waiting == 0 || b.waiting+uint64(n) <= b.PendingBytes) {
		return nil
	}
	return b.fail(op, outcome.NotExecuted, fmt.Errorf("%w: %d operations and %d bytes wait already; make progress and try again",
		outcome.ErrBackPressure, q.Len(), b.waiting))
}

// PostAM sends an active message. header and payload are the engine's until the user's end; of the library's own messages the header is copied.
func (b *Box) PostAM(id uint16, header, payload []byte) (*request.Request, error) {
	if err := b.mayMessage(id, header, payload); err != nil {
		return nil, err
	}
	if b.shortAM(id, header, payload) {
		return nil, nil
	}
	r, err := b.newMessage(id, header, payload)
	if err == nil {
		b.enqueue(&b.pendOrdered, r)
	}
	return r, err
}

func (b *Box) mayMessage(id uint16, header, payload []byte) error {
	err := b.shut
	if err == nil {
		err = b.MayMessage(id, len(header), len(payload))
	}
	if err == nil {
		return nil
	}
	return b.fail(family.Name(id), outcome.NotExecuted, err)
}

// newMessage is a message that is to wait in the queue.
func (b *Box) newMessage(id uint16, header, payload []byte) (*request.Request, error) {
	if err := b.full(family.Name(id), &b.pendOrdered, len(header)+len(payload)); err != nil {
		return nil, err
	}
	r := b.pool.Get(request.AM, b)
	if family.Reserved(id) {
		header = append(r.Own[:0], header...)
	}
	r.ID, r.Header, r.Payload = id, header, payload
	b.nextID++
	r.Message = b.nextID
	b.stripe(r)
	b.Messages++
	return r, nil
}

// shortAM posts a message of one frame without a request, if nothing is in its way.
func (b *Box) shortAM(id uint16, header, payload []byte) bool {
	if b.pendOrdered.Len() > 0 || b.replayOrdered.Len() > 0 || !b.Limits.Short(wire.AMSize+len(header)+len(payload)) {
		return false
	}
	cost := wire.MessageCost(len(header), len(payload))
	l := b.laneFor(true, b.book.Barrier(), len(payload))
	if l == nil || !b.credit.Takes(cost, b.Backlog) {
		return false
	}
	w := b.scratch
	w.Frame = transport.Frame{
		ID: wire.IDAM, Head: wire.AM{ID: id, Header: header}.AppendTo(w.Head[:0]), Payload: payload,
		Done: (*amDone)(l), Tag: b.book.Current(),
	}
	taken, over := l.Send(&w.Frame)
	if !taken {
		return false
	}
	w.Once = request.Once{End: &l.once, Bytes: uint64(len(payload))}
	b.credit.Begin(cost, 0)
	b.Messages++
	if !over {
		b.book.Issue(l.place)
		b.ordered.Enter()
		b.host.Posted()
	}
	return true
}

// PostPut writes src into the peer's memory that key names.
func (b *Box) PostPut(src []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("put", outcome.NotExecuted, b.shut)
	}
	if err := b.MayAccess(wire.Write, len(src), key, offset); err != nil {
		return nil, b.fail("put", outcome.NotExecuted, err)
	}
	if b.free(b.book.Barrier(), len(src)) && b.reach.Put(src, &key, offset) {
		b.Puts++
		return nil, nil
	}
	if b.shortPut(src, key, offset) {
		return nil, nil
	}
	if err := b.full("put", &b.pendAny, len(src)); err != nil {
		return nil, err
	}
	r := b.pool.Get(request.Put, b)
	r.Payload, r.Key, r.Offset = src, key, offset
	b.Puts++
	b.enqueue(&b.pendAny, r)
	return r, nil
}

func (b *Box) shortPut(src []byte, key wire.RKey, offset uint64) bool {
	if b.pendAny.Len() > 0 || b.replayAny.Len() > 0 || !b.Limits.Short(wire.PutSize+len(src)) {
		return false
	}
	l := b.laneFor(false, b.book.Barrier(), len(src))
	if l == nil {
		return false
	}
	w := b.scratch
	w.Frame = transport.Frame{
		ID: wire.IDPut, Head: wire.Put{Index: key.Index, Secret: key.Secret, Offset: offset}.AppendTo(w.Head[:0]), Payload: src,
		Done: (*putDone)(l), Tag: b.book.Current(),
	}
	taken, over := l.Send(&w.Frame)
	if !taken {
		return false
	}
	w.Once = request.Once{End: &l.once, Bytes: uint64(len(src))}
	b.Puts++
	if !over {
		l.touch(key.Index, b.book.Issue(l.place))
		b.host.Posted()
	}
	return true
}

// PostRoom ends when operations that were refused for back-pressure may be posted again.
func (b *Box) PostRoom() (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("post", outcome.NotExecuted, b.shut)
	}
	r := b.pool.Get(request.Room, b)
	b.rooms.Push(r)
	b.checkRooms()
	return r, nil
}
