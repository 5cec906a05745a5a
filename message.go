package braid

import (
	"github.com/openbraid/braid/internal/delivery"
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

// Payload is the message, whole. Not to be written to, nor kept: see Message.
func (m *Message) Payload() []byte { return m.m.Payload }

// Endpoint is the sender, to answer to: to post to, or, in a Shared worker, also to wait for. Who supplies the memory for what is large receives it from there,
// by RecvTag.
func (m *Message) Endpoint() *Endpoint {
	return endpoint(m.m.From.(*worker.Endpoint))
}

// Retain keeps header and payload valid after the handler, until Release. Call it inside the handler.
//
// Source: UCP_AM_RECV_ATTR_FLAG_DATA and ucp_am_data_release.
func (m *Message) Retain() { m.m.Retain() }

// Release gives up a retained message. From any goroutine, once.
func (m *Message) Release() { m.m.Release() }
