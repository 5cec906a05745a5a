package delivery

import (
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Call is user code to run at the end of a turn. One of Handler, Done, Event is set.
type Call struct {
	Handler Handler
	Message *Message

	Done func(error)
	Err  error

	Event any // what OnEvent gets

	buf  *transport.Buffer // holds the message; the worker's reference
	size uint64
	held uint64 // of Queue.held
}

const (
	// holdMost is how many bytes of receive buffers waiting messages may keep from being used again. Small ones beyond it
	// are copied: else a message of a byte, alone in its buffer, would cost as much as the buffer.
	holdMost = 2 << 20
)

// Handler takes an active message.
type Handler func(*Message)

// Message is an active message. It is valid until its handler returns, unless retained.
type Message struct {
	From    any // the endpoint that it came from
	ID      uint16
	Header  []byte
	Payload []byte
	User    any   // kept with the pooled object
	Offer   Offer // nil: the payload is whole

	buf      *transport.Buffer
	retained bool
}

// Offer is a payload that is its sender's still.
type Offer interface {
	// LetGo: nobody asks for it any more. Idempotent.
	LetGo()
	// Drop is LetGo by the last who knows of it: it is another one then.
	Drop()
}

// Retain keeps header and payload valid until Release. Only inside the handler.
func (m *Message) Retain() {
	if m.retained {
		return
	}
	m.retained = true
	if m.buf != nil {
		m.buf.Retain()
	}
}

// Release gives up a retained message. From any goroutine, once.
func (m *Message) Release() {
	if m.buf != nil {
		m.buf.Release()
		m.buf = nil
	}
	m.Header, m.Payload = nil, nil
}

// Queue is the calls of one worker, in the order in which they became due, and the pool of their messages.
type Queue struct {
	OnEvent  func(event any)             // may be nil; set before the first event
	Handled  func(from any, cost uint64) // a message's handler is done; may be nil
	Watch    func(*Message)              // is told of each message before its handler is due: for checkers; may be nil
	calls    []Call
	messages []*Message
	bytes    uint64
	held     uint64            // bytes of the buffers that the messages are in
	last     *transport.Buffer // that was counted, since the last Take
}

// Bytes is what the messages that were not handled yet cost: an empty one isn't free.
func (q *Queue) Bytes() uint64 { return q.bytes }

// Len is the number of calls that are due and not taken.
func (q *Queue) Len() int { return len(q.calls) }

// Take takes the calls that are due, and leaves the memory of buf, of which nothing is left, for those to come. The caller runs them, in order, and then
// calls Finish.
func (q *Queue) Take(buf []Call) (due []Call) {
	due, q.calls = q.calls, buf[:0]
	q.last = nil
	return due
}

// Run runs one call. It needs nothing of the queue that changes.
func (q *Queue) Run(c *Call) {
	switch {
	case c.Handler != nil:
		c.Handler(c.Message)
	case c.Done != nil:
		c.Done(c.Err)
	case c.Event != nil:
		q.OnEvent(c.Event)
	}
}

// Finish gives back what the calls held.
func (q *Queue) Finish(calls []Call) {
	for i := range calls {
		c := &calls[i]
		if c.buf != nil {
			c.buf.Release()
		}
		q.bytes -= c.size
		q.held -= c.held
		if c.Message != nil && q.Handled != nil {
			q.Handled(c.Message.From, c.size)
		}
		if m := c.Message; m != nil && !m.retained {
			if m.Offer != nil {
				m.Offer.Drop()
			}
			*m = Message{User: m.User}
			q.messages = append(q.messages, m)
		}
		*c = Call{}
	}
}

// PutBack queues calls again that were taken and not run, in front of all others.
func (q *Queue) PutBack(calls []Call) {
	if len(calls) > 0 {
		q.calls = append(append([]Call(nil), calls...), q.calls...)
		clear(calls)
	}
}

// Message queues a message for its handler. buf owns header and payload, if they are not the message's own.
func (q *Queue) Message(h Handler, m *Message, buf *transport.Buffer) {
	p := q.pooled()
	c := Call{Handler: h, Message: p, buf: buf, size: wire.MessageCost(len(m.Header), len(m.Payload))}
	p.From, p.ID, p.Header, p.Payload, p.Offer = m.From, m.ID, m.Header, m.Payload, m.Offer
	if buf != nil && q.held >= holdMost && c.size < uint64(len(buf.Bytes))/2 {
		p.Header, p.Payload = own(m.Header, m.Payload)
		c.buf = nil
	}
	p.buf = c.buf
	if q.Watch != nil {
		q.Watch(p)
	}
	if c.buf != nil {
		buf.Retain()
		if buf != q.last {
			q.last, c.held = buf, uint64(len(buf.Bytes))
			q.held += c.held
		}
	}
	q.bytes += c.size
	q.calls = append(q.calls, c)
}

// own copies both.
func own(header, payload []byte) (h, p []byte) {
	b := append(append(make([]byte, 0, len(header)+len(payload)), header...), payload...)
	n := len(header)
	return b[:n:n], b[n:]
}

func (q *Queue) pooled() *Message {
	n := len(q.messages)
	if n == 0 {
		return &Message{}
	}
	p := q.messages[n-1]
	q.messages = q.messages[:n-1]
	return p
}

// Done queues the end of an operation for the user's callback.
func (q *Queue) Done(fn func(error), err error) { q.calls = append(q.calls, Call{Done: fn, Err: err}) }

// Event queues an event, if anybody wants it.
func (q *Queue) Event(e any) {
	if q.OnEvent != nil {
		q.calls = append(q.calls, Call{Event: e})
	}
}
