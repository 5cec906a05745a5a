package worker

import (
	"fmt"

	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// The posting calls return nil, nil if the user's end of the operation is reached already, a request if it
// isn't, and an error if nothing was taken.

// amDone and putDone are the endpoint as the Completer of frames that have no request; the tag is the epoch.
type (
	amDone  Endpoint
	putDone Endpoint
)

func (d *amDone) Sent(uint64) {}
func (d *amDone) Executed(epoch uint64, _ error) {
	ep := (*Endpoint)(d)
	ep.ordered.unacked--
	ep.retire(epoch)
}

func (d *putDone) Sent(uint64)                    {}
func (d *putDone) Executed(epoch uint64, _ error) { (*Endpoint)(d).retire(epoch) }

// open says whether operations may be posted.
func (ep *Endpoint) mayPost(op string) error {
	switch ep.state {
	case StateReady, StateSuspended, StateDialing:
		return nil
	case StateFailed:
		return ep.opError(op, NotExecuted, ep.err)
	}
	return ep.opError(op, NotExecuted, ErrClosed)
}

func (ep *Endpoint) full(op string, q *request.Queue) error {
	if q.Len() < ep.w.cfg.Pending {
		return nil
	}
	return ep.opError(op, NotExecuted, fmt.Errorf("%w: %d operations wait already; make progress and try again", ErrBackPressure, q.Len()))
}

// PostAM sends an active message. header and payload are the engine's until the user's end.
func (ep *Endpoint) PostAM(id uint16, header, payload []byte) (*request.Request, error) {
	if err := ep.mayPost("am"); err != nil {
		return nil, err
	}
	if len(header) > protocol.MaxHeader {
		return nil, ep.opError("am", NotExecuted, fmt.Errorf("%w: header of %d bytes, at most %d", ErrLimit, len(header), protocol.MaxHeader))
	}
	if uint64(len(payload)) > ep.terms.MaxMessage {
		return nil, ep.opError("am", NotExecuted, fmt.Errorf("%w: message of %d bytes, the peer takes at most %d; put it into its memory instead", ErrLimit, len(payload), ep.terms.MaxMessage))
	}
	if ep.shortAM(id, header, payload) {
		return nil, nil
	}
	if err := ep.full("am", &ep.pendOrdered); err != nil {
		return nil, err
	}
	r := ep.w.pool.Get(request.AM, ep)
	r.ID, r.Header, r.Payload = id, header, payload
	ep.nextID++
	r.Message = ep.nextID
	ep.stats.Messages++
	ep.enqueue(&ep.pendOrdered, r)
	return r, nil
}

// short says whether a payload is small enough to be copied into one frame at once.
func (ep *Endpoint) short(n int) bool {
	return n <= ep.limits.MaxFrame && (ep.limits.ZeroCopy == 0 || n < ep.limits.ZeroCopy)
}

// shortAM posts a message of one frame without a request, if nothing is in its way.
func (ep *Endpoint) shortAM(id uint16, header, payload []byte) bool {
	if ep.pendOrdered.Len() > 0 || ep.replayOrdered.len() > 0 || !ep.short(wire.AMSize+len(header)+len(payload)) {
		return false
	}
	l := ep.orderLane()
	if l == nil {
		return false
	}
	w := ep.w
	w.frame = transport.Frame{
		ID: wire.IDAM, Head: wire.AM{ID: id, Header: header}.AppendTo(w.head[:0]), Payload: payload,
		Done: (*amDone)(ep), Tag: ep.book.Current(),
	}
	if l.Tep.Post(&w.frame) != transport.Done {
		return false
	}
	ep.book.Issue()
	ep.ordered.unacked++
	ep.stats.Messages++
	ep.posted()
	return true
}

// PostPut writes src into the peer's memory that key names.
func (ep *Endpoint) PostPut(src []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	if err := ep.mayPost("put"); err != nil {
		return nil, err
	}
	if err := ep.mayPut(len(src), key, offset); err != nil {
		return nil, ep.opError("put", NotExecuted, err)
	}
	if ep.shortPut(src, key, offset) {
		return nil, nil
	}
	if err := ep.full("put", &ep.pendAny); err != nil {
		return nil, err
	}
	r := ep.w.pool.Get(request.Put, ep)
	r.Payload, r.Key, r.Offset = src, key, offset
	ep.stats.Puts++
	ep.enqueue(&ep.pendAny, r)
	return r, nil
}

// mayPut finds what can be found here; the target looks again.
func (ep *Endpoint) mayPut(n int, key wire.RKey, offset uint64) error {
	switch {
	case ep.names.Yours.Incarnation != 0 && key.Incarnation != ep.names.Yours.Incarnation:
		return fmt.Errorf("%w: the key is of another process than this endpoint's peer; ask the peer for a new one", ErrAccess)
	case key.Rights&wire.Write == 0:
		return fmt.Errorf("%w: the key does not allow writing", ErrAccess)
	case uint64(n) > key.Size || offset > key.Size-uint64(n):
		return fmt.Errorf("%w: bytes %d to %d of a region of %d", ErrAccess, offset, offset+uint64(n), key.Size)
	}
	return nil
}

func (ep *Endpoint) shortPut(src []byte, key wire.RKey, offset uint64) bool {
	if ep.pendAny.Len() > 0 || ep.replayAny.len() > 0 || !ep.short(wire.PutSize+len(src)) {
		return false
	}
	l := ep.pick()
	if l == nil {
		return false
	}
	w := ep.w
	w.frame = transport.Frame{
		ID: wire.IDPut, Head: wire.Put{Index: key.Index, Secret: key.Secret, Offset: offset}.AppendTo(w.head[:0]), Payload: src,
		Done: (*putDone)(ep), Tag: ep.book.Current(),
	}
	if l.Tep.Post(&w.frame) != transport.Done {
		return false
	}
	ep.book.Issue()
	ep.stats.Puts++
	ep.posted()
	return true
}

// PostFlush ends when every operation posted before is executed at the target.
func (ep *Endpoint) PostFlush() (*request.Request, error) {
	switch ep.state {
	case StateFailed:
		return nil, ep.opError("flush", Unknown, uncovered(ep.err, ep.uncovered()))
	case StateClosed, StateClosing:
		return nil, ep.opError("flush", NotExecuted, ErrClosed)
	}
	return ep.flush(request.Flush)
}

func (ep *Endpoint) flush(kind request.Kind) (*request.Request, error) {
	epoch, nothing := ep.book.Cut()
	if nothing && ep.refused.seen >= ep.refused.known && kind == request.Flush {
		ep.covered = ep.book.Issued()
		return nil, ep.takeRefusal()
	}
	r := ep.w.pool.Get(kind, ep)
	r.Epoch, r.Issued, r.Whole = epoch, ep.book.Issued(), nothing
	ep.flushes.Push(r)
	for _, l := range ep.up {
		l.Tep.RequestAck()
	}
	ep.posted()
	return r, nil
}

// uncovered is the number of operations that no successful flush covers.
func (ep *Endpoint) uncovered() uint64 { return ep.book.Issued() - ep.covered }

// takeRefusal is the first refusal since the last flush, as an error.
func (ep *Endpoint) takeRefusal() error {
	err := ep.refused.first
	ep.refused.first = nil
	return err
}
