package tags

import (
	"fmt"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// The ids of tagged messages.
const (
	plain   = family.Tag     // wire.Tagged
	synced  = family.Tag + 1 // wire.TagSync
	offered = family.Tag + 2 // wire.TagOffer
)

// Peer is an endpoint.
type Peer interface {
	offer.Peer
	// MayTag says why nothing with a tag can be sent, nil if it can.
	MayTag() error
	// Handled: a message that cost so much is matched.
	Handled(cost uint64)
}

// Options make the tagged messages of a worker.
type Options struct {
	Pool   *request.Pool
	Memory *memory.Table
	Seed   match.Seed                          // of the tags
	Report func(r *request.Request, err error) // the user's end
}

// Tags is the tagged messages of a worker.
type Tags struct {
	o       Options
	table   match.Table[*request.Request, *Message]
	owed    map[Peer]map[uint64]*match.Node[*Message] // those that wait and whose sender is to be told, by his number for them
	watches []watch
	spare   *Message
	buffers *mpool.Pool
	closed  error
	head    [wire.TagOfferSize]byte
}

const (
	inside = 32      // bytes of a message that stand in it
	keep   = 4 << 20 // bytes that are kept for messages to come
)

// New makes one.
func New(o Options) *Tags {
	t := &Tags{o: o, buffers: mpool.New(2*inside, cost.MostEager, keep)}
	t.table.Sow(o.Seed)
	return t
}

// Message is one that arrived and is not received.
type Message struct {
	From  Peer
	Size  uint64
	Tag   uint64
	op    uint64 // what its sender is to be told about; 0: nothing
	cost  uint64
	data  []byte
	buf   *transport.Buffer // that data is in; nil: its own
	offer *wire.TagOffer    // where it is read from
	small [inside]byte
	next  *Message
}

// Send sends payload. Synchronous: the user's end is when it is matched. So it is of what is large in any case.
func (t *Tags) Send(p Peer, tag uint64, payload []byte, synchronous bool) (*request.Request, error) {
	if err := p.MayTag(); err != nil {
		return nil, err
	}
	h := wire.TagSync{Tag: tag}
	switch {
	case len(payload) > p.Eager():
		return offer.Lend(p, t.o.Memory, offer.Loan{ID: offered, Tag: tag, Payload: payload}, t.head[:])
	case synchronous:
		return p.PostAnswered(synced, h.AppendTo(t.head[:0]), payload, nil)
	}
	return p.PostAM(plain, wire.Tagged{Tag: tag}.AppendTo(t.head[:0]), payload)
}

// Arrived takes a message of a peer, which costs so much while it isn't matched. buf is what m stands in, if it isn't m's own memory.
// The error says that the peer can't have sent it.
func (t *Tags) Arrived(from Peer, m *delivery.Message, buf *transport.Buffer, cost uint64) error {
	var h wire.TagOffer
	var err error
	switch m.ID {
	case plain:
		var p wire.Tagged
		p, err = wire.DecodeTagged(m.Header)
		h.Tag, h.Size = p.Tag, uint64(len(m.Payload))
	case synced:
		h.TagSync, err = wire.DecodeTagSync(m.Header)
		h.Size = uint64(len(m.Payload))
	case offered:
		h, err = wire.DecodeTagOffer(m.Header)
		if err == nil && len(m.Payload) > 0 {
			err = fmt.Errorf("an offer with %d bytes of payload", len(m.Payload))
		}
	default:
		err = fmt.Errorf("message id %d: the peer was told nothing of it", m.ID)
	}
	if err != nil {
		return err
	}
	r, ok := t.table.Arrive(h.Tag, from)
	if !ok {
		u := t.keep(from, h, m, buf, cost)
		t.wait(u)
		if len(t.watches) > 0 {
			t.waits(u)
		}
		return nil
	}
	r.Node = nil
	if r.Takes {
		t.taken(r, t.keep(from, h, m, buf, cost))
		return nil
	}
	if m.ID == offered {
		t.read(r, from, h)
	} else {
		t.copied(r, from, h, m.Payload)
	}
	from.Handled(cost)
	return nil
}

// wait has a message wait until it is received.
func (t *Tags) wait(u *Message) {
	n := t.table.Wait(u.Tag, u.From, u)
	if u.op == 0 {
		return
	}
	of := t.owed[u.From]
	if of == nil {
		of = map[uint64]*match.Node[*Message]{}
		if t.owed == nil {
			t.owed = map[Peer]map[uint64]*match.Node[*Message]{}
		}
		t.owed[u.From] = of
	}
	of[u.op] = n
}

// take takes a message out that waits.
func (t *Tags) take(n *match.Node[*Message]) *Message {
	u := t.table.Take(n)
	if u.op != 0 {
		delete(t.owed[u.From], u.op)
	}
	return u
}

// keep is a message that is kept until it is received.
func (t *Tags) keep(from Peer, h wire.TagOffer, m *delivery.Message, buf *transport.Buffer, cost uint64) *Message {
	u := t.spare
	if u == nil {
		u = &Message{}
	}
	t.spare, u.next = u.next, nil
	u.From, u.Tag, u.Size, u.op, u.cost = from, h.Tag, h.Size, h.Op, cost
	n := len(m.Payload)
	switch {
	case m.ID == offered:
		o := h // else every message would cost an allocation
		u.offer = &o
	case n <= inside:
		u.data = u.small[:copy(u.small[:], m.Payload)]
	case buf != nil && n > len(buf.Bytes)/2: // alone in it
		buf.Retain()
		u.buf, u.data = buf, m.Payload
	default:
		u.buf = t.buffers.Get(n)
		u.data = u.buf.Bytes[:copy(u.buf.Bytes, m.Payload)]
	}
	return u
}

// matched ends r with the message, which is its user's from now on.
func (t *Tags) matched(r *request.Request, u *Message) {
	if u.offer != nil {
		t.read(r, u.From, *u.offer)
	} else {
		t.copied(r, u.From, wire.TagOffer{TagSync: wire.TagSync{Tag: u.Tag, Op: u.op}, Size: u.Size}, u.data)
	}
	t.letGo(u)
}

// letGo gives up what is kept of a message, and counts it as handled.
func (t *Tags) letGo(u *Message) {
	u.From.Handled(u.cost)
	if u.buf != nil {
		u.buf.Release()
	}
	*u = Message{next: t.spare}
	t.spare = u
}

// copied: the bytes are here.
func (t *Tags) copied(r *request.Request, from Peer, h wire.TagOffer, payload []byte) {
	if h.Op != 0 {
		from.Tell(wire.TagNote{Code: wire.TagMatched, Op: h.Op})
	}
	copy(r.Dst, payload)
	r.Tag, r.Result = h.Tag, from
	offer.Measure(r, from.Where(), h.Size)
	r.Retired = true
	t.o.Report(r, r.Err)
}

// read reads what was offered. What does not fit stays with the sender.
func (t *Tags) read(r *request.Request, from Peer, h wire.TagOffer) {
	r.Tag, r.Result = h.Tag, from
	offer.Read(r, from, h, t.o.Report)
}

// Withdraw lets go of a message that its sender wants back, unless it is matched: then he is told that, if he wasn't yet.
func (t *Tags) Withdraw(from Peer, op uint64) {
	if n := t.owed[from][op]; n != nil {
		t.letGo(t.take(n))
		from.Tell(wire.TagNote{Code: wire.TagWithdrawn, Op: op})
	}
}

// Ended: a peer is over. What it sent whole can still be received; what it offered is gone, and so is who waits for it alone.
func (t *Tags) Ended(from Peer, err error) {
	for n := t.table.OldestOf(from); n != nil; {
		next := n.NextOf()
		if n.Value.offer != nil {
			t.letGo(t.take(n))
		}
		n = next
	}
	delete(t.owed, from) // what is left of it was sent whole, and nobody is told any more
	t.table.CancelAll(func(w match.Want) bool { return w.From == any(from) }, func(r *request.Request, w match.Want) { t.end(r, w, err) })
	t.unwatch(func(w watch) bool { return w.want.From == any(from) }, err)
}

// Close ends all.
func (t *Tags) Close(err error) {
	t.closed = err
	for n := t.table.Oldest(); n != nil; n = t.table.Oldest() {
		t.letGo(t.take(n))
	}
	t.table.CancelAll(func(match.Want) bool { return true }, func(r *request.Request, w match.Want) { t.end(r, w, err) })
	t.unwatch(func(watch) bool { return true }, err)
	t.buffers.Close()
}

// end ends a receive that was matched by nothing.
func (t *Tags) end(r *request.Request, w match.Want, err error) {
	r.Node, r.Dst, r.Retired = nil, nil, true
	t.o.Report(r, unmatched(w, err))
}

// unmatched is how a receive ends that no message was for; of one peer's alone it says whose.
func unmatched(w match.Want, err error) error {
	e := &outcome.Error{Op: request.Receive.String(), Fate: outcome.NotExecuted, Err: err}
	if p, ok := w.From.(Peer); ok {
		e.Peer = p.Where()
	}
	return e
}
