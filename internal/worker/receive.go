package worker

import (
	"fmt"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// receive executes one data frame. When it returns the frame counts, so it never leaves one half done,
// and never lets one wait (R14).
func (ep *Endpoint) receive(l *link, in *transport.Incoming) {
	var err error
	switch in.ID {
	case wire.IDAM:
		err = ep.takeAM(l, in)
	case wire.IDPut:
		err = ep.takePut(l, in)
	case wire.IDPutSignal:
		err = ep.takePutSignal(l, in)
	case wire.IDAtomicOp:
		err = ep.takeAtomic(l, in)
	case wire.IDCredit:
		err = ep.takeCredit(in)
	case wire.IDTagNote:
		err = ep.takeTagNote(in)
	case wire.IDGet:
		err = ep.takeGet(in)
	case wire.IDGetData:
		err = ep.takeGetData(l, in)
	case wire.IDAMFirst, wire.IDAMFrag, wire.IDAMPart, wire.IDAMLast:
		err = ep.takePiece(l, in)
	default:
		err = fmt.Errorf("%s is no data frame", wire.Name(in.ID))
	}
	if err != nil {
		ep.stats.BadFrames++
		ep.fail(fmt.Errorf("%w: lane %s: %w", outcome.ErrProtocol, l.name(), err))
	}
}

func (ep *Endpoint) takePut(l *link, in *transport.Incoming) error {
	h, err := wire.DecodePut(in.Head)
	if err != nil {
		l.unplace()
		return err
	}
	if in.Placed { // it is where it belongs already
		r := l.placed
		if r == nil {
			return fmt.Errorf("a placed payload without a place")
		}
		if r.Watch != nil {
			r.Watch(h.Offset, in.Payload)
		}
		l.unplace()
		return nil
	}
	if code := ep.w.mem.Put(h, in.Payload); code != 0 {
		ep.refuse(l, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (ep *Endpoint) takePutSignal(l *link, in *transport.Incoming) error {
	h, err := wire.DecodePutSignal(in.Head)
	if err != nil {
		return err
	}
	if code := ep.w.mem.PutSignal(h, in.Payload); code != 0 {
		ep.refuse(l, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (ep *Endpoint) takeCredit(in *transport.Incoming) error {
	h, err := wire.DecodeCredit(in.Head)
	if err != nil {
		return err
	}
	return ep.box.Granted(h)
}

// takeTagNote: the peer says what became of a message of ours, or wants one of its own back.
func (ep *Endpoint) takeTagNote(in *transport.Incoming) error {
	h, err := wire.DecodeTagNote(in.Head)
	switch {
	case err != nil:
		return err
	case h.Code != wire.TagWithdraw:
		return ep.box.Told(h)
	}
	ep.w.tags.Withdraw(ep.box, h.Op)
	return nil
}

// takeGet answers. What it asks for is kept until the peer has it.
func (ep *Endpoint) takeGet(in *transport.Incoming) error {
	h, err := wire.DecodeGet(in.Head)
	if err != nil {
		return err
	}
	if int(h.Size) > ep.box.Limits.MaxFrame-wire.GetDataSize {
		return fmt.Errorf("a get of %d bytes, more than one frame", h.Size)
	}
	refused, err := ep.box.AnswerGet(ep.w.mem, h)
	ep.stats.Refused += refused
	return err
}

// takeAtomic changes a word, once: what it was is kept until the peer has it, as any answer is.
func (ep *Endpoint) takeAtomic(l *link, in *transport.Incoming) error {
	h, err := wire.DecodeAtomicOp(in.Head)
	if err != nil {
		return err
	}
	if h.Fetch {
		refused, err := ep.box.AnswerFetch(ep.w.mem, h)
		ep.stats.Refused += refused
		return err
	}
	if _, code := ep.w.mem.Change(h); code != 0 {
		ep.refuse(l, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (ep *Endpoint) takeGetData(l *link, in *transport.Incoming) error {
	l.reading = nil
	h, err := wire.DecodeGetData(in.Head)
	if err != nil {
		return err
	}
	return ep.box.Answered(h, in.Payload, in.Placed)
}

func (ep *Endpoint) takeAM(l *link, in *transport.Incoming) error {
	h, err := wire.DecodeAM(in.Head)
	if err != nil {
		return err
	}
	return ep.accept(l, delivery.Message{From: ep, ID: h.ID, Header: h.Header, Payload: in.Payload}, in.Buf)
}

// takePiece takes a frame of a message of several. One without a handler is put together all the same, and refused once it is whole: the peer's limits
// have been told, so that it fits.
func (ep *Endpoint) takePiece(l *link, in *transport.Incoming) error {
	l.unplace() // all of it has arrived
	m, err := ep.parts.Take(in)
	if err != nil || m == nil {
		return err
	}
	return ep.whole(l, m)
}

func (ep *Endpoint) whole(l *link, m *reassembly.Message) error {
	err := ep.accept(l, delivery.Message{From: ep, ID: m.AM, Header: m.Header, Payload: m.Data}, m.Buf)
	m.Release()
	return err
}

// accept queues a message for its handler. buf owns it, if it isn't the message's own memory.
func (ep *Endpoint) accept(l *link, m delivery.Message, buf *transport.Buffer) error {
	cost := wire.MessageCost(len(m.Header), len(m.Payload))
	if err := ep.box.Accepted(cost); err != nil {
		return err
	}
	if family.OfTag(m.ID) {
		return ep.w.tags.Arrived(ep.box, &m, buf, cost)
	}
	fn := ep.w.Of(m.ID)
	if fn == nil {
		ep.refuse(l, wire.Refused{Code: wire.RefusedHandler, Detail: uint32(m.ID)})
		ep.box.Handled(cost)
		return nil
	}
	ep.w.calls.Message(fn, m, buf)
	return nil
}

// refuse tells the peer that an operation was taken and not carried out. It goes on the lane on which the operation came, before
// the acknowledgement that covers it, so that no flush can miss it; if that lane is lost, the count in Lost says that one is owed.
func (ep *Endpoint) refuse(l *link, m wire.Refused) {
	l.refused.issued++
	ep.stats.Refused++
	l.post(wire.IDRefused, m.AppendTo(ep.w.Head[:0]))
}

// refusedArrived: the peer did not carry out an operation of ours.
func (ep *Endpoint) refusedArrived(l *link, m wire.Refused) {
	l.refused.seen++
	err := fmt.Errorf("%w: %v", outcome.ErrAccess, m.Code)
	op := ep.box.Called(m.Op)
	if m.Code == wire.RefusedHandler {
		op, err = "am", fmt.Errorf("%w: id %d", outcome.ErrHandler, m.Detail)
	}
	ep.box.Refused(m.Op, ep.opError(op, outcome.NotExecuted, err))
}
