package braid

import (
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/worker"
)

// Message is an active message that arrived.
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

// Header is the sender's header.
func (m *Message) Header() []byte { return m.m.Header }

// Payload is the message.
func (m *Message) Payload() []byte { return m.m.Payload }

// Endpoint is the sender, to answer to.
func (m *Message) Endpoint() *Endpoint {
	return endpoint(m.m.From.(*worker.Endpoint))
}

// Retain keeps header and payload valid after the handler, until Release. Call it inside the handler.
//
// Source: UCP_AM_RECV_ATTR_FLAG_DATA and ucp_am_data_release.
func (m *Message) Retain() { m.m.Retain() }

// Release gives up a retained message. From any goroutine, once.
func (m *Message) Release() { m.m.Release() }
