package offer

import (
	"fmt"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Options make the offers of a worker.
type Options struct {
	Pool   *request.Pool
	Memory *memory.Table
	Report func(r *request.Request, err error) // the user's end
}

// Table is the offers of active messages of a worker: those that have come, and are not over.
type Table struct {
	o    Options
	open map[Peer]map[uint64]*Offer // by their senders' numbers
	free []*Offer
	head [wire.TagOfferSize]byte
}

// New makes one.
func New(o Options) *Table { return &Table{o: o, open: map[Peer]map[uint64]*Offer{}} }

// Offer is one that has come.
type Offer struct {
	t     *Table
	from  Peer
	h     wire.TagOffer
	state State
}

// Send sends a message whose payload its receiver may want to have somewhere: what is small goes with it, what is large is offered, and the user's end is when it is read.
func (t *Table) Send(p Peer, id uint16, header, payload []byte) (*request.Request, error) {
	err := family.Check(id)
	if err != nil {
		err = fmt.Errorf("%w: %w", outcome.ErrLimit, err)
	} else {
		err = p.MayMessage(family.Offer, len(header), 0)
	}
	if err != nil {
		return nil, &outcome.Error{Op: family.Name(family.Offer), Peer: p.Where(), Fate: outcome.NotExecuted, Err: err}
	}
	if len(payload) <= p.Eager() {
		return p.PostAM(id, header, payload)
	}
	return Lend(p, t.o.Memory, Loan{ID: family.Offer, Tag: uint64(id), With: header, Payload: payload}, t.head[:])
}

// Came is the offer that has come in a message of a peer, and the program's id that it is for. The error says that the peer can't have sent it.
func Came(m *delivery.Message) (id uint16, h wire.TagOffer, err error) {
	if m.ID != family.Offer {
		return 0, h, fmt.Errorf("message id %d: the peer was told nothing of it", m.ID)
	}
	if h, err = wire.DecodeTagOffer(m.Header); err != nil {
		return 0, h, err
	}
	if id = uint16(h.Tag); uint64(id) != h.Tag || family.Reserved(id) {
		return 0, h, fmt.Errorf("an offer for message id %d", h.Tag)
	}
	return id, h, nil
}

// Arrived takes one for which there is a handler.
func (t *Table) Arrived(from Peer, h wire.TagOffer) *Offer {
	o := t.unused()
	o.from, o.h = from, h
	if t.open[from] == nil {
		t.open[from] = map[uint64]*Offer{}
	}
	t.open[from][h.Op] = o
	return o
}

func (t *Table) unused() (o *Offer) {
	if n := len(t.free); n > 0 {
		o, t.free = t.free[n-1], t.free[:n-1]
		return o
	}
	return &Offer{t: t}
}

// note moves the offer on, and tells its sender what that means for him.
func (o *Offer) note(e Event) bool {
	was := o.state
	if !Life.Note(&o.state, e) {
		return false
	}
	if code := told(was, e); code != 0 {
		o.from.Tell(wire.TagNote{Code: code, Op: o.h.Op})
	}
	if of := o.t.open[o.from]; (o.state == Withdrawn || o.state == Over) && of[o.h.Op] == o { // else a later one has its number
		delete(of, o.h.Op)
	}
	return true
}

// LetGo implements delivery.Offer: what is not received by now never will be.
func (o *Offer) LetGo() { o.note(WasLetGo) }

// Drop implements delivery.Offer.
func (o *Offer) Drop() {
	o.LetGo()
	*o = Offer{t: o.t}
	o.t.free = append(o.t.free, o)
}

// Size is how many bytes a message has, wherever they are.
func Size(m *delivery.Message) uint64 {
	if o, ok := m.Offer.(*Offer); ok {
		return o.h.Size
	}
	return uint64(len(m.Payload))
}

// Receive receives a message into dst: what was offered once, what has come as often as one likes.
func (t *Table) Receive(m *delivery.Message, dst []byte) (*request.Request, error) {
	o, ok := m.Offer.(*Offer)
	if !ok {
		r := t.request(dst)
		Measure(r, Where(m), uint64(len(m.Payload)))
		copy(dst, m.Payload)
		r.Retired = true
		t.o.Report(r, r.Err)
		return r, nil
	}
	if err := o.may(Received); err != nil {
		return nil, err
	}
	r := t.request(dst)
	Read(r, o.from, o.h, t.o.Report)
	return r, nil
}

// Piece reads len(dst) bytes that stand at an offset of what was offered. All pieces have ended before Close.
func (t *Table) Piece(m *delivery.Message, dst []byte, at uint64) (*request.Request, error) {
	o := m.Offer.(*Offer)
	if err := o.from.Over(); err != nil {
		return nil, o.failed(outcome.Unknown, err)
	}
	if err := o.may(PieceRead); err != nil {
		return nil, err
	}
	r := t.request(dst)
	r.Size = uint64(len(dst))
	h := o.h
	h.Op = 0 // the last one does not know that it is
	o.from.Read(r, h, at, dst)
	return r, nil
}

// Close ends what was read in pieces.
func (t *Table) Close(m *delivery.Message, whole bool) {
	if o := m.Offer.(*Offer); whole {
		o.note(ReadWhole)
	} else {
		o.LetGo()
	}
}

func (t *Table) request(dst []byte) *request.Request {
	r := t.o.Pool.Get(request.Receive, t)
	r.ID, r.Dst = family.Offer, dst
	return r
}

// FrameSent and FrameExecuted implement request.Owner: what reads is a peer's.
func (t *Table) FrameSent(*request.Request)                    { panic("offer: a frame of a receive") }
func (t *Table) FrameExecuted(*request.Request, uint64, error) { panic("offer: a frame of a receive") }

// may moves the offer on, or says why not.
func (o *Offer) may(e Event) error {
	switch {
	case o.note(e):
		return nil
	case o.state == Withdrawn:
		return o.failed(outcome.NotExecuted, fmt.Errorf("%w: the sender has taken the message back", outcome.ErrCanceled))
	}
	return o.failed(outcome.NotExecuted, fmt.Errorf("%w: a message is received once, before it is let go of", outcome.ErrRequest))
}

func (o *Offer) failed(fate outcome.Fate, err error) error {
	return &outcome.Error{Op: "am receive", Peer: o.from.Where(), Fate: fate, Err: err}
}

// Where is the address of who has sent a message, for errors.
func Where(m *delivery.Message) string {
	if from, ok := m.From.(interface{ Addr() string }); ok {
		return from.Addr()
	}
	return ""
}

// Withdraw lets go of an offer that its sender wants back, unless all of it is being read: then he hears of that. It says whether there is one of this number.
func (t *Table) Withdraw(from Peer, op uint64) bool {
	o := t.open[from][op]
	return o != nil && o.note(TakenBack)
}

// Ended: a peer is over, and nothing that it has offered can be read any more, as who asks for it will hear.
func (t *Table) Ended(from Peer) { delete(t.open, from) }

// Open is how many there are, for checks.
func (t *Table) Open() (n int) {
	for _, of := range t.open { // in any order: they are counted
		n += len(of)
	}
	return n
}
