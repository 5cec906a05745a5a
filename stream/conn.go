package stream

import (
	"fmt"
	"net"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/stream/flow"
	"github.com/openbraid/braid/internal/stream/frame"
)

// Conn is one byte stream. It is a net.Conn, an io.ReaderFrom and an io.WriterTo, and safe for many goroutines.
type Conn struct {
	s  *session
	id frame.Stream

	// All of this is under the session's lock.
	life flow.Life
	err  error // why it is broken, or nothing can be written
	send flow.Send
	recv flow.Receive
	in   inbox

	read, write half
	out         outbox // its writer's own
}

func newConn(s *session, id frame.Stream, l flow.Life) *Conn {
	c := &Conn{s: s, id: id, life: l, recv: flow.NewReceive(s.m.sizes(), &s.budget)}
	c.read.init()
	c.write.init()
	return c
}

// step notes an event, says what is to be said, and leaves the session's list when nothing counts any more. Under the lock.
func (c *Conn) step(e flow.Event) bool {
	say, ok := c.life.Step(e)
	if !ok {
		return false
	}
	switch say {
	case flow.SayFin:
		c.s.say(frame.Frame{Kind: frame.Fin, Stream: c.id})
	case flow.SayClose:
		c.s.say(frame.Frame{Kind: frame.Close, Stream: c.id})
	case flow.SayReset, flow.Nothing: // a reset has a reason, which who calls it has
	}
	if !c.life.Listed() {
		c.s.unlist(c)
	}
	if !c.life.MayRead() {
		c.recv.End()
	}
	return true
}

// take takes a frame of the peer. Under the lock.
func (c *Conn) take(f frame.Frame, msg *braid.Message) error {
	if !c.step(arrival(f.Kind)) {
		return fmt.Errorf("%v of a stream that is %v", f.Kind, c.life.State())
	}
	switch f.Kind {
	case frame.Data:
		if err := c.recv.Arrived(len(msg.Payload())); err != nil {
			return err
		}
		if c.life.MayRead() {
			c.in.put(msg)
			c.read.changed.signal()
		}
	case frame.Accept, frame.Window:
		if err := c.send.Grant(f.Total); err != nil {
			return err
		}
		c.write.changed.signal()
	case frame.Fin:
		c.read.changed.signal()
	case frame.Close:
		c.err = ErrGone
		c.read.changed.signal()
		c.write.end() // lent bytes come back; nobody wants them
	case frame.Refuse:
		c.broke(&resetError{ErrRefused, f.Text})
	case frame.Reset:
		c.broke(&resetError{ErrReset, f.Text})
	case frame.Open:
	}
	return nil
}

// arrival is the event that a frame is.
func arrival(k frame.Kind) flow.Event {
	switch k {
	case frame.Accept:
		return flow.Accepted
	case frame.Data:
		return flow.Data
	case frame.Window:
		return flow.Window
	case frame.Fin:
		return flow.Fin
	case frame.Close:
		return flow.PeerClosed
	case frame.Refuse, frame.Reset:
		return flow.PeerReset
	case frame.Open:
	}
	return flow.Broke
}

// broke wakes who waits on a stream that is over. Under the lock.
func (c *Conn) broke(err error) {
	if c.life.State() == flow.Broken {
		c.err = err
	}
	c.out.drop()
	c.read.changed.signal()
	c.write.end()
}

// leave is the user's end of it. Under the lock.
func (c *Conn) leave(e flow.Event, reason string) bool {
	said := c.life.Listed()
	if !c.step(e) {
		return false
	}
	if e == flow.CallReset && said {
		c.s.say(frame.Frame{Kind: frame.Reset, Stream: c.id, Text: reason})
	}
	c.in.drop()
	c.out.drop()
	c.read.end()
	c.write.end()
	return true
}

// Close ends both directions. What was written arrives, and the peer reads it before its EOF; what it has sent and nobody has read is dropped, and its
// writes end with ErrGone. Calls that wait end with net.ErrClosed. It does not wait: Mux.Close does, until peers have it all.
//
// Errors: *net.OpError with net.ErrClosed, the second time.
func (c *Conn) Close() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.leave(flow.CallClose, "") {
		return c.opError("close", net.ErrClosed)
	}
	return nil
}

// Reset ends the stream at once, in both directions: what is under way is worth nothing. The peer's calls end with ErrReset and the reason, of which 256
// bytes of printable text are told. Of a stream that is closed it does nothing.
func (c *Conn) Reset(reason string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.leave(flow.CallReset, reason)
}

// CloseWrite ends this direction: the peer reads what was written, and then EOF. Reading goes on.
//
// Errors: *net.OpError: net.ErrClosed, or why the stream is over. A second time it is none.
func (c *Conn) CloseWrite() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.step(flow.CallCloseWrite) {
		c.write.changed.signal()
		return nil
	}
	switch s := c.life.State(); {
	case s == flow.Closed || s == flow.Closing:
		return c.opError("close", net.ErrClosed)
	case s == flow.Broken:
		return c.opError("close", c.err)
	}
	return nil
}

// LocalAddr is this end of the endpoint's first lane, RemoteAddr the peer's address.
func (c *Conn) LocalAddr() net.Addr { return c.s.local }

// RemoteAddr is the peer's address: that which was dialed, or which it came from.
func (c *Conn) RemoteAddr() net.Addr { return c.s.remote }

// Endpoint is what the stream is on.
func (c *Conn) Endpoint() *braid.Endpoint { return c.s.ep }

// SetDeadline sets both.
func (c *Conn) SetDeadline(t time.Time) error { return c.deadline(t, &c.read, &c.write) }

// SetReadDeadline ends Reads that wait then, and all that begin later, with os.ErrDeadlineExceeded; the zero time takes it away.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.deadline(t, &c.read) }

// SetWriteDeadline is that of Writes. How much of one that it ended was written is told exactly: what was not will never be sent.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.deadline(t, &c.write) }

func (c *Conn) deadline(t time.Time, halves ...*half) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if s := c.life.State(); s == flow.Closed || s == flow.Closing {
		return c.opError("set", net.ErrClosed)
	}
	for _, h := range halves {
		h.deadline(&c.s.mu, t)
	}
	return nil
}
