package worker

import (
	"time"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Call is user code to run at the end of a turn. One of Handler, Done, Event is set.
type Call struct {
	Handler Handler
	Message *Message

	Done func(error)
	Err  error

	Event *Event

	buf  *transport.Buffer // holds the message; the worker's reference
	size uint64
}

// Handler takes an active message.
type Handler func(*Message)

// Message is an active message. It is valid until its handler returns, unless retained.
type Message struct {
	Endpoint *Endpoint
	ID       uint16
	Header   []byte
	Payload  []byte
	User     any // kept with the pooled object

	buf      *transport.Buffer
	retained bool
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

// EventKind says what happened to an endpoint.
type EventKind uint8

const (
	LaneUp     EventKind = iota
	LaneDown             // a lane is lost; its operations are being handed over
	HandedOver           // everything that was outstanding on a lost lane is executed
	Suspended            // no lane is left; the endpoint keeps its work and tries to get one back
	Resumed
	Failed
)

func (k EventKind) String() string {
	return [...]string{"LaneUp", "LaneDown", "HandedOver", "Suspended", "Resumed", "Failed"}[k]
}

// Event is told to who asked for it. Which fields are set depends on the kind.
type Event struct {
	Kind     EventKind
	At       time.Duration // of the worker's clock
	Endpoint *Endpoint
	Lane     string // "local->remote"
	Instance wire.Instance
	Dialed   bool // this side opened the lane
	Err      error
	// Of LaneDown and HandedOver, in bytes of frames: what this side had posted on the lane and what it had accepted from it. Of
	// HandedOver also: what the peer had accepted (its own count), and what was posted again.
	Posted, Accepted, PeerAccepted, Replayed uint64
}

// Calls takes the calls that are due, appended to buf. The caller runs them, in order, and then calls Finish.
func (w *Worker) Calls(buf []Call) []Call {
	buf = append(buf, w.calls...)
	clear(w.calls)
	w.calls = w.calls[:0]
	return buf
}

// Finish gives back what the calls held.
func (w *Worker) Finish(calls []Call) {
	for i := range calls {
		c := &calls[i]
		if c.buf != nil {
			c.buf.Release()
		}
		w.backlog -= c.size
		if m := c.Message; m != nil && !m.retained {
			*m = Message{User: m.User}
			w.messages = append(w.messages, m)
		}
		*c = Call{}
	}
}

// Run runs one call.
func (w *Worker) Run(c *Call) {
	switch {
	case c.Handler != nil:
		c.Handler(c.Message)
	case c.Done != nil:
		c.Done(c.Err)
	case c.Event != nil && w.OnEvent != nil:
		w.OnEvent(c.Event)
	}
}

// deliver queues a message for its handler. buf, if there is one, owns header and payload.
func (w *Worker) deliver(h Handler, m Message, buf *transport.Buffer) {
	p := w.getMessage()
	m.User, m.buf = p.User, buf
	*p = m
	if buf != nil {
		buf.Retain()
	}
	size := uint64(len(m.Payload))
	w.backlog += size
	w.calls = append(w.calls, Call{Handler: h, Message: p, buf: buf, size: size})
}

func (w *Worker) getMessage() *Message {
	if n := len(w.messages); n > 0 {
		m := w.messages[n-1]
		w.messages = w.messages[:n-1]
		return m
	}
	return &Message{}
}

func (w *Worker) event(e Event) {
	if w.OnEvent == nil {
		return
	}
	e.At = w.now
	w.calls = append(w.calls, Call{Event: &e})
}
