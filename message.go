package braid

import (
	"context"
	"iter"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/worker"
)

// Message is an active message that arrived.
//
// Owns:   it, its header and its payload are the library's. They are valid until the handler returns, or, of one that is retained, until Release.
// Source: the arguments of ucp_am_recv_callback_t.
type Message struct{ m *delivery.Message }

// handler is fn as the engine wants it.
func handler(fn func(*Message)) delivery.Handler {
	return func(m *delivery.Message) {
		p, ok := m.User.(*Message)
		if !ok {
			p = &Message{}
			m.User = p
		}
		p.m = m
		fn(p)
	}
}

// ID is what the message was sent to.
func (m *Message) ID() uint16 { return m.m.ID }

// Header is the sender's header, at most 1024 bytes. Not to be written to, nor kept: see Message.
func (m *Message) Header() []byte { return m.m.Header }

// Payload is the message, whole; nil of one that was offered and is still its sender's (Worker.HandleOffer). Not to be written to, nor kept: see Message.
func (m *Message) Payload() []byte { return m.m.Payload }

// Size is how many bytes the payload has, wherever it is. A peer says any number: look at it before memory is made for it.
func (m *Message) Size() int { return int(offer.Size(m.m)) }

// Endpoint is the sender, to answer to: to post to, or, in a Shared worker, also to wait for.
func (m *Message) Endpoint() *Endpoint {
	return endpoint(m.m.From.(*worker.Endpoint))
}

// Recv receives the payload into buf: what was offered is read from its sender's memory straight into it, over all lanes, once; what has come is copied. It may be called in the
// handler, or later, if the message is retained.
//
// Shape:  of a payload longer than buf the rest is left; Size is its true length. Into nil it is taken note of and not read.
// Owns:   buf is the library's until Recv returns, for whatever reason: it is never written to after that.
// Errors: *OpError: ErrTruncated; ErrCanceled, if the sender has taken it back; ErrPeerFailed and the like, ErrRequest if it was received before, the context's: then the sender
// is told.
// Source: ucp_am_recv_data_nbx.
func (m *Message) Recv(ctx context.Context, buf []byte) error {
	if err := m.Endpoint().w.desk.MayWait("am receive", m.Endpoint().Addr()); err != nil {
		return err
	}
	return m.PostRecv(buf).Wait(ctx)
}

// PostRecv is Recv without waiting. Posted in the handler it needs no Retain.
//
// Owns:   buf is the library's until the request has ended.
func (m *Message) PostRecv(buf []byte) Request {
	w := m.Endpoint().w
	w.lock()
	defer w.unlock()
	return w.request(w.eng.Offers().Receive(m.m, buf))
}

// Chunks ranges over the payload in order, piece by piece, as it arrives: the next few are read into buf while the loop looks at one, and no more is kept of it than buf has room for.
// A loop that ends early gives the rest up, and the sender is told. In place of Recv, once; of what has come as often as one likes.
//
// Owns:   a piece is valid until the next one, buf is the library's until the loop is over.
// Errors: as Recv, as the last pair.
func (m *Message) Chunks(ctx context.Context, buf []byte) iter.Seq2[[]byte, error] {
	w := m.Endpoint().w
	return w.desk.Chunks(ctx, buf, w.eng.Offers(), m.m)
}

// Retain keeps header and payload valid after the handler, until Release. Call it inside the handler.
//
// Source: UCP_AM_RECV_ATTR_FLAG_DATA and ucp_am_data_release.
func (m *Message) Retain() { m.m.Retain() }

// Release gives up a retained message, and what was offered and not received. From any goroutine, of an Owned worker from the owner's; once.
func (m *Message) Release() {
	if o := m.m.Offer; o != nil {
		w := m.Endpoint().w
		w.lock()
		o.LetGo()
		w.unlock()
	}
	m.m.Release()
}
