package intake

import (
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/tags"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Intake is that of one endpoint. Set the fields before the first frame.
type Intake struct {
	From     any // the endpoint, as messages name it
	Box      *outbox.Box
	Memory   *memory.Table
	Tags     *tags.Tags
	Offers   *offer.Table
	Handlers *delivery.Handlers
	Calls    *delivery.Queue  // of programs' handlers
	Above    *delivery.Queue  // of the library's own
	Parts    reassembly.Table // messages of several frames
	Refused  uint64           // operations that were not carried out, so far
}

// Lane is the lane on which a frame came.
type Lane interface {
	// Refuse tells the peer that an operation was taken and not carried out: on this lane, before the acknowledgement that covers it, so that no flush can miss it.
	Refuse(wire.Refused)
	// Instance names it.
	Instance() wire.Instance
}

var errNoPlace = errors.New("a placed payload without a place")

// Take executes one data frame, whose payload is written at the landing if the frame is Placed. An error is of a frame that may not come.
func (k *Intake) Take(on Lane, at *Landing, in *transport.Incoming) error {
	switch in.ID {
	case wire.IDAM:
		return k.takeAM(on, in)
	case wire.IDPut:
		return k.takePut(on, at, in)
	case wire.IDPutSignal:
		return k.takePutSignal(on, in)
	case wire.IDAtomicOp:
		return k.takeAtomic(on, in)
	case wire.IDCredit:
		return k.takeCredit(in)
	case wire.IDTagNote:
		return k.takeTagNote(in)
	case wire.IDTagClear:
		return k.takeTagClear(in)
	case wire.IDTagPut:
		return k.takeTagPut(on, at, in)
	case wire.IDGet:
		return k.takeGet(in)
	case wire.IDGetData:
		return k.takeGetData(at, in)
	case wire.IDAMFirst, wire.IDAMFrag, wire.IDAMPart, wire.IDAMLast:
		return k.takePiece(on, at, in)
	}
	return fmt.Errorf("%s is no data frame", wire.Name(in.ID))
}

func (k *Intake) takePut(on Lane, at *Landing, in *transport.Incoming) error {
	h, err := wire.DecodePut(in.Head)
	if err != nil {
		at.Leave()
		return err
	}
	if in.Placed { // it is where it belongs already
		r := at.placed
		if r == nil {
			return errNoPlace
		}
		if r.Watch != nil {
			r.Watch(h.Offset, in.Payload)
		}
		at.Leave()
		return nil
	}
	if code := k.Memory.Put(h, in.Payload); code != 0 {
		k.refuse(on, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (k *Intake) takePutSignal(on Lane, in *transport.Incoming) error {
	h, err := wire.DecodePutSignal(in.Head)
	if err != nil {
		return err
	}
	if code := k.Memory.PutSignal(h, in.Payload); code != 0 {
		k.refuse(on, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (k *Intake) takeCredit(in *transport.Incoming) error {
	h, err := wire.DecodeCredit(in.Head)
	if err != nil {
		return err
	}
	return k.Box.Granted(h)
}

// takeTagNote: the peer says what became of a message of ours, or wants one of its own back.
func (k *Intake) takeTagNote(in *transport.Incoming) error {
	h, err := wire.DecodeTagNote(in.Head)
	switch {
	case err != nil:
		return err
	case h.Code != wire.TagWithdraw:
		return k.Box.Told(h)
	}
	if !k.Offers.Withdraw(k.Box, h.Op) {
		k.Tags.Withdraw(k.Box, h.Op)
	}
	return nil
}

// takeTagClear: the peer has room for a message of ours.
func (k *Intake) takeTagClear(in *transport.Incoming) error {
	h, err := wire.DecodeTagClear(in.Head)
	if err != nil {
		return err
	}
	return k.Box.Cleared(h)
}

// takeTagPut: bytes of a message that this side has room for.
func (k *Intake) takeTagPut(on Lane, at *Landing, in *transport.Incoming) error {
	at.reading = nil
	h, err := wire.DecodeTagPut(in.Head)
	if err != nil {
		return err
	}
	return k.Box.Landed(h, in.Payload, in.Placed, on.Instance())
}

// takeGet answers. What it asks for is kept until the peer has it.
func (k *Intake) takeGet(in *transport.Incoming) error {
	h, err := wire.DecodeGet(in.Head)
	if err != nil {
		return err
	}
	if int(h.Size) > k.Box.Limits.MaxFrame-wire.GetDataSize {
		return fmt.Errorf("a get of %d bytes, more than one frame", h.Size)
	}
	refused, err := k.Box.AnswerGet(k.Memory, h)
	k.Refused += refused
	return err
}

// takeAtomic changes a word, once: what it was is kept until the peer has it, as any answer is.
func (k *Intake) takeAtomic(on Lane, in *transport.Incoming) error {
	h, err := wire.DecodeAtomicOp(in.Head)
	if err != nil {
		return err
	}
	if h.Fetch {
		refused, err := k.Box.AnswerFetch(k.Memory, h)
		k.Refused += refused
		return err
	}
	if _, code := k.Memory.Change(h); code != 0 {
		k.refuse(on, wire.Refused{Op: h.Op, Code: code, Detail: h.Index})
	}
	return nil
}

func (k *Intake) takeGetData(at *Landing, in *transport.Incoming) error {
	at.reading = nil
	h, err := wire.DecodeGetData(in.Head)
	if err != nil {
		return err
	}
	return k.Box.Answered(h, in.Payload, in.Placed)
}

func (k *Intake) takeAM(on Lane, in *transport.Incoming) error {
	h, err := wire.DecodeAM(in.Head)
	if err != nil {
		return err
	}
	return k.accept(on, &delivery.Message{From: k.From, ID: h.ID, Header: h.Header, Payload: in.Payload}, in.Buf)
}

// takePiece takes a frame of a message of several. One without a handler is put together all the same, and refused once it is whole: the peer's limits
// have been told, so that it fits.
func (k *Intake) takePiece(on Lane, at *Landing, in *transport.Incoming) error {
	at.Leave() // all of it has arrived
	m, err := k.Parts.Take(in)
	if err != nil || m == nil {
		return err
	}
	err = k.accept(on, &delivery.Message{From: k.From, ID: m.AM, Header: m.Header, Payload: m.Data}, m.Buf)
	m.Release()
	return err
}

// accept queues a message for its handler. buf owns it, if it isn't the message's own memory.
func (k *Intake) accept(on Lane, m *delivery.Message, buf *transport.Buffer) error {
	cost := wire.MessageCost(len(m.Header), len(m.Payload))
	if err := k.Box.Accepted(cost); err != nil {
		return err
	}
	switch {
	case family.OfTag(m.ID):
		return k.Tags.Arrived(k.Box, m, buf, cost)
	case family.OfOffer(m.ID):
		return k.acceptOffer(m, buf, cost)
	}
	fn := k.Handlers.Of(m.ID)
	if fn == nil {
		k.refuse(on, wire.Refused{Code: wire.RefusedHandler, Detail: uint32(m.ID)})
		k.Box.Handled(cost)
		return nil
	}
	due := k.Calls
	if family.Reserved(m.ID) {
		due = k.Above
	}
	due.Message(fn, m, buf)
	return nil
}

// acceptOffer queues a message whose payload is with its sender, for a handler that takes such.
func (k *Intake) acceptOffer(m *delivery.Message, buf *transport.Buffer, cost uint64) error {
	id, h, err := offer.Came(m)
	if err != nil {
		return err
	}
	fn := k.Handlers.OfOffer(id)
	if fn == nil {
		k.Refused++
		k.Box.Tell(wire.TagNote{Code: wire.TagNoHandler, Op: h.Op})
		k.Box.Handled(cost)
		return nil
	}
	k.Box.Handled(uint64(len(m.Header))) // the rest is its handler's, as of any message
	k.Calls.Message(fn, &delivery.Message{From: k.From, ID: id, Header: m.Payload, Offer: k.Offers.Arrived(k.Box, h)}, buf)
	return nil
}

func (k *Intake) refuse(on Lane, m wire.Refused) {
	k.Refused++
	on.Refuse(m)
}
