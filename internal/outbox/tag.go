package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Some messages are answered, those with a tag and offers: by a note, when they are matched. Until then their request waits as that of a get does, and so do flushes that
// cover it. What is said about them, in both directions, are notes: like credits they are in no book, and no fence and no limit stops them.

// opAt is where the number of an operation stands in the header of a message that is answered, putAt whether it is to be put.
const (
	opAt  = wire.TaggedSize
	putAt = wire.TagOfferPut
)

// MayTag says why nothing with a tag can be sent, nil if it can.
func (b *Box) MayTag() error { return b.mayMessage(family.Tag, nil, nil) }

// Over is why the endpoint has ended, nil while it hasn't.
func (b *Box) Over() error { return b.end }

// Where is the peer's address.
func (b *Box) Where() string { return b.Addr }

// PostAnswered is PostAM of a message that the peer answers with a note; its number is written into the header. lent, if it isn't nil, is memory that
// the peer reads until then.
func (b *Box) PostAnswered(id uint16, header, payload []byte, lent *memory.Region) (*request.Request, error) {
	err := b.mayMessage(id, header, payload)
	var r *request.Request
	if err == nil {
		r, err = b.newMessage(id, header, payload)
	}
	if err != nil {
		if lent != nil {
			b.scratch.Memory.Return(lent)
		}
		return nil, err
	}
	r.Replies, r.Lent = 1, lent
	binary.LittleEndian.PutUint64(r.Own[opAt:], r.Op())
	if r.Put = lent != nil && b.model.Put > 0 && len(lent.Bytes) >= b.model.Put; r.Put {
		r.Own[putAt] = 1
	}
	b.enqueue(&b.pendOrdered, r)
	return r, nil
}

// asks is the message of this number that waits for a word of the peer, nil if there is none.
func (b *Box) asks(op uint64) *request.Request {
	if r := b.pool.Find(op, b); r != nil && r.Kind == request.AM && r.Replies > 0 && !r.Told {
		return r
	}
	return nil
}

// Told takes the peer's answer. The error says that it can't have sent it.
func (b *Box) Told(h wire.TagNote) error {
	r := b.asks(h.Op)
	if r == nil || !r.Whole || h.Code == wire.TagWithdraw {
		return fmt.Errorf("%v, of a message that asked for no answer", h.Code)
	}
	switch h.Code {
	case wire.TagMatched:
		r.Canceled = false // too late
		if r.Lent != nil {
			b.scratch.Memory.Remove(r.Lent)
			if r.Lent.Busy() { // the acknowledgement of what the peer has read comes behind the note, or on another lane
				r.Told = true
				b.gets.waiting.Remove(r)
				b.gets.told.Push(r)
				b.host.Wake()
				return nil
			}
		}
	case wire.TagWithdrawn:
		if !r.Canceled {
			return fmt.Errorf("%v, of a message that nobody wants back", h.Code)
		}
		r.Err = b.fail(r.Name(), outcome.NotExecuted, outcome.ErrCanceled)
	case wire.TagGivenUp:
		if r.Put && !r.Room {
			b.GivenUp()
		}
		r.Err = b.fail(r.Name(), outcome.Unknown, fmt.Errorf("%w: the receiver gave it up, or did not want it", outcome.ErrCanceled))
		b.recall(r)
	case wire.TagNoHandler:
		if r.ID != family.Offer {
			return fmt.Errorf("%v, of a message that has none", h.Code)
		}
		r.Err = b.fail(r.Name(), outcome.NotExecuted, fmt.Errorf("%w: id %d, for offers (HandleOffer)", outcome.ErrHandler, binary.LittleEndian.Uint64(r.Own[:])))
		b.Refused(0, r.Err)
	case wire.TagWithdraw:
	}
	b.answered(r)
	return nil
}

// answered: the peer has said what became of r, and nothing is needed of its memory any more.
func (b *Box) answered(r *request.Request) {
	if !b.gets.waiting.Remove(r) {
		b.gets.told.Remove(r)
	}
	r.Replies, r.Told = 0, false
	switch {
	case r.Frames == 0:
		b.finish(r)
	case r.Borrowed == 0:
		b.report(r, r.Err)
	}
}

// Returned implements owed.Host: no lane needs the memory of a region any more.
func (d *debtor) Returned(m *memory.Region) {
	b := (*Box)(d)
	for r := b.gets.told.Head(); r != nil; r = r.Next {
		if r.Lent == m {
			b.answered(r)
			return
		}
	}
}

// askFor has the peer acknowledge what messages wait for that it has read.
func (b *Box) askFor() {
	if b.gets.told.Len() == 0 {
		return
	}
	for _, s := range b.up {
		s.Tep.RequestAck()
	}
}

// withdraw asks the peer to let go of a message that it has, if it may still be unmatched. One whose frames are under way is asked for later: the
// peer must not learn of the wish before the message.
func (b *Box) withdraw(r *request.Request) {
	if r.Told { // too late, and no reason to wait
		b.detach(r.Lent)
		b.answered(r)
		return
	}
	if r.Kind == request.AM && r.Whole && r.Frames == 0 && r.Replies > 0 {
		b.Tell(wire.TagNote{Code: wire.TagWithdraw, Op: r.Op()})
	}
}

// settle is what the end of a request means for the peer's memory, or for its wait.
func (b *Box) settle(r *request.Request, err error) {
	if r.Lent != nil {
		b.scratch.Memory.Return(r.Lent)
		r.Lent = nil
	}
	if r.Offer != 0 {
		code := wire.TagMatched
		if err != nil && !errors.Is(err, outcome.ErrTruncated) {
			code = wire.TagGivenUp
		}
		b.Tell(wire.TagNote{Code: code, Op: r.Offer})
		r.Offer = 0
	}
}

// Read reads what of an offered message stands at an offset into dst, for a receive. The sender is told when it is over, unless h names nothing.
func (b *Box) Read(r *request.Request, h wire.TagOffer, at uint64, dst []byte) {
	r.Owner, r.Offer = b, h.Op
	if h.Put && h.Op != 0 {
		b.clear(r, dst)
		return
	}
	r.Key, r.Offset = wire.RKey{Index: h.Index, Secret: h.Secret}, at
	r.Payload, r.Dst = dst, dst
	b.wait(&b.gets.pend, r)
	b.host.Posted()
	b.postGets()
}

// recall takes memory back that the peer may still be reading, or its user's: answers under way get copies.
func (b *Box) recall(r *request.Request) {
	lent := r.Lent
	if b.settle(r, outcome.ErrCanceled); lent != nil && lent.Busy() {
		b.detach(lent)
	}
}

func (b *Box) detach(lent *memory.Region) {
	of := func(c transport.Completer) bool {
		a, ok := replay.Origin(c).(interface{ Of(*memory.Region) bool })
		return ok && a.Of(lent)
	}
	b.Copy(lent)
	for _, s := range b.all {
		s.Tep.Detach(of)
	}
	b.replayOther.Own(of)
}
