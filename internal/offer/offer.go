package offer

import (
	"fmt"

	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Peer is an endpoint.
type Peer interface {
	// Eager is up to how many bytes a message is sent without asking whether it is wanted.
	Eager() int
	// Over says why the endpoint has ended, nil while it hasn't.
	Over() error
	// Where is its address, for errors.
	Where() string
	// MayMessage says why it takes no messages to an id with a header and a payload of so many bytes, nil if it does.
	MayMessage(id uint16, header, payload int) error
	PostAM(id uint16, header, payload []byte) (*request.Request, error)
	PostAnswered(id uint16, header, payload []byte, lent *memory.Region) (*request.Request, error)
	// Read reads what stands at an offset of an offered message into dst for r, and then tells the sender, if h names who is to be told.
	Read(r *request.Request, h wire.TagOffer, at uint64, dst []byte)
	// Tell tells the peer what became of a message.
	Tell(h wire.TagNote)
}

// Loan is what is offered.
type Loan struct {
	ID      uint16 // that the offer is sent to
	Tag     uint64 // what the message is called there
	With    []byte // is sent along
	Payload []byte
}

// Lend offers a payload: the peer reads it, and the request ends when it has said so. scratch is memory for the offer, of wire.TagOfferSize bytes.
func Lend(p Peer, mem *memory.Table, l Loan, scratch []byte) (*request.Request, error) {
	r := mem.Lent(l.Payload)
	key := r.Key(wire.Read, 0)
	h := wire.TagOffer{TagSync: wire.TagSync{Tag: l.Tag}, Size: key.Size, Secret: key.Secret, Index: key.Index}
	q, err := p.PostAnswered(l.ID, h.AppendTo(scratch[:0]), l.With, r)
	if q != nil {
		q.Size = key.Size
	}
	return q, err
}

// Read reads what was offered for r, whose memory is set: as much as there is room for. The rest stays with the sender, who is told.
func Read(r *request.Request, from Peer, h wire.TagOffer, report func(*request.Request, error)) {
	Measure(r, from.Where(), h.Size)
	dst, over := r.Dst, from.Over()
	if n := min(uint64(len(dst)), h.Size); n > 0 && over == nil {
		from.Read(r, h, 0, dst[:n:n])
		return
	}
	if over != nil {
		r.Err = failed(r, from.Where(), over)
	}
	from.Tell(wire.TagNote{Code: wire.TagMatched, Op: h.Op})
	r.Retired = true
	report(r, r.Err)
}

// Measure notes how large the message is that is received, and whether there is room for it.
func Measure(r *request.Request, where string, size uint64) {
	if r.Size = size; size > uint64(len(r.Dst)) {
		r.Err = failed(r, where, fmt.Errorf("%w: %d bytes, for %d", outcome.ErrTruncated, size, len(r.Dst)))
	}
}

func failed(r *request.Request, where string, err error) error {
	return &outcome.Error{Op: r.Name(), Peer: where, Fate: outcome.Unknown, Err: err}
}
