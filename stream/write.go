package stream

import (
	"errors"
	"io"
	"net"
	"os"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/stream/flow"
	"github.com/openbraid/braid/internal/stream/frame"
)

// How bytes are sent depends on how many there are:
//
//	less than copyFrom   handed to the transport, which copies them into its frame and is done with them
//	less than lendFrom   copied into a parcel, so that Write need not wait until the peer has them
//	more                 lent from where they stand, in messages that are large enough for several lanes, and waited for
const (
	copyFrom    = 16 << 10
	parcelBytes = 64 << 10
	lendFrom    = 256 << 10
	messageMost = 1 << 20
	lentMost    = 8  // messages that one Write has lent at a time
	spareMost   = 32 // parcels that a Mux keeps for later
)

// parcel is a copy of bytes that are under way.
type parcel struct {
	q braid.Request
	b []byte
}

// lent is a message of bytes that are the caller's.
type lent struct {
	q    braid.Request
	size int
}

// outbox is what is under way.
type outbox struct {
	parcels []parcel // under the session's lock
	lent    []lent   // of the present Write
}

// parcel is an empty one.
func (m *Mux) parcel() []byte {
	select {
	case b := <-m.spare:
		return b
	default:
		return make([]byte, parcelBytes)
	}
}

func (m *Mux) giveBack(b []byte) {
	select {
	case m.spare <- b:
	default:
	}
}

// reap takes back the parcels that have arrived.
func (o *outbox) reap(m *Mux) {
	n := 0
	for ; n < len(o.parcels); n++ {
		if done, _ := o.parcels[n].q.Test(); !done {
			break
		}
		o.parcels[n].q.Release()
		m.giveBack(o.parcels[n].b)
	}
	k := copy(o.parcels, o.parcels[n:])
	clear(o.parcels[k:])
	o.parcels = o.parcels[:k]
}

// drop lets go of the parcels: they go on by themselves.
func (o *outbox) drop() {
	for i := range o.parcels {
		o.parcels[i].q.Release()
	}
	o.parcels = nil
}

var errNoWindow = errors.New("the peer takes no more now")

// mayWrite says why nothing can be written, if so. Under the lock.
func (c *Conn) mayWrite() error {
	state := c.life.State()
	switch {
	case state == flow.Closed || state == flow.Closing:
		return c.opError("write", net.ErrClosed)
	case c.write.expired:
		return c.opError("write", os.ErrDeadlineExceeded)
	case c.life.MayWrite():
		return nil
	case c.err != nil:
		return c.opError("write", c.err)
	}
	return c.opError("write", errShut)
}

// put sends the first bytes of p, as many as go in one message now. pending: they are lent until q has ended. errNoWindow and errNoRoom: wait.
func (c *Conn) put(p []byte, lend bool) (n int, q braid.Request, pending bool, err error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, err = c.room(len(p)); n == 0 || err != nil {
		return 0, q, false, err
	}
	c.out.reap(s.m)
	p = p[:min(n, s.most)]
	if !lend && len(p) >= copyFrom {
		b := s.m.parcel()
		n = copy(b, p)
		if err = c.sendParcel(b, n); err != nil {
			n = 0
			s.m.giveBack(b)
		}
		return n, q, false, err
	}
	n = len(p)
	c.send.Take(n)
	if q, pending, err = s.post(frame.Frame{Kind: frame.Data, Stream: c.id}, p); err != nil {
		c.send.Back(n)
		return 0, q, false, c.refused(err)
	}
	return n, q, pending, nil
}

// room is how many of n bytes may be sent now. Under the lock.
func (c *Conn) room(n int) (int, error) {
	if err := c.mayWrite(); err != nil || n == 0 {
		return 0, err
	}
	c.write.changed.clear()
	if n = min(n, c.send.Room()); n == 0 {
		return 0, errNoWindow
	}
	return n, nil
}

// sendParcel sends n bytes of a parcel. Under the lock.
func (c *Conn) sendParcel(b []byte, n int) error {
	c.send.Take(n)
	q, pending, err := c.s.post(frame.Frame{Kind: frame.Data, Stream: c.id}, b[:n])
	switch {
	case err != nil:
		c.send.Back(n)
		return c.refused(err)
	case pending:
		c.out.parcels = append(c.out.parcels, parcel{q, b})
	default:
		c.s.m.giveBack(b)
	}
	return nil
}

// refused is why nothing was posted. Under the lock.
func (c *Conn) refused(err error) error {
	if err == errNoRoom {
		c.s.comeAgain()
		return err
	}
	return c.opError("write", err) // the endpoint is over, which its end will tell, too
}

// Write sends bytes, and waits while the peer takes no more.
//
// Shape:  any number of bytes; none is legal. From 256 KiB on they are not copied, and go over all lanes.
// Owns:   p is the library's until Write returns.
// Order:  that of the calls, with the bytes of one in a row.
// Done:   what was written is on its way: it arrives if the endpoint lives. Close, and then Mux.Close, say that it has.
// Errors: *net.OpError: os.ErrDeadlineExceeded, net.ErrClosed, ErrGone, ErrReset, the endpoint's. The number says exactly how much was written, unless the
// endpoint is over.
// Source: ucp_stream_send_nbx.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.write.use.Lock()
	defer c.write.use.Unlock()
	lend := len(p) >= lendFrom
	for {
		k, q, pending, e := c.put(p[n:], lend)
		n += k
		if pending {
			c.out.lent = append(c.out.lent, lent{q, k})
		}
		switch {
		case e == errNoWindow || e == errNoRoom:
			c.wait()
			continue
		case e != nil:
			back, _ := c.settle()
			return n - back, e
		case n < len(p) && len(c.out.lent) < lentMost:
			continue
		}
		if back, e := c.settle(); e != nil {
			return n - back, e
		}
		if n == len(p) {
			return n, nil
		}
	}
}

// wait waits until more may be sent, or nothing more may.
func (c *Conn) wait() {
	c.s.mu.Lock()
	over := c.write.over
	c.s.mu.Unlock()
	wait(until(over), c.s.m.w, &c.write.changed)
}

// settle waits until what was lent is the caller's again: the last first, for who is called off before it was posted must not leave a hole in front
// of others. back is how many bytes at the end were not sent, and never will be.
func (c *Conn) settle() (back int, err error) {
	if len(c.out.lent) == 0 {
		return 0, nil
	}
	c.s.mu.Lock()
	over := c.write.over
	c.s.mu.Unlock()
	for i := len(c.out.lent) - 1; i >= 0; i-- {
		l := c.out.lent[i]
		e := l.q.Wait(until(over))
		if e == nil {
			continue
		}
		err = e
		if op := (*braid.OpError)(nil); errors.As(e, &op) && op.Fate == braid.NotExecuted {
			back += l.size
		}
	}
	clear(c.out.lent)
	c.out.lent = c.out.lent[:0]
	if err == nil {
		return 0, nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.send.Back(back)
	if why := c.mayWrite(); why != nil {
		err = why
	} else {
		err = c.opError("write", err)
	}
	return back, err
}

// ReadFrom sends all that r has, until io.EOF. What is read is sent from where it was read to.
//
// Errors: r's, but for io.EOF, or as Write.
func (c *Conn) ReadFrom(r io.Reader) (total int64, err error) {
	c.write.use.Lock()
	defer c.write.use.Unlock()
	for {
		n, e := c.readSome(r)
		total += int64(n)
		switch e {
		case nil:
		case errNoWindow:
			c.wait()
		case io.EOF:
			return total, nil
		default:
			return total, e
		}
	}
}

// readSome reads once, as much as may be sent, and sends it.
func (c *Conn) readSome(r io.Reader) (n int, err error) {
	c.s.mu.Lock()
	n, err = c.room(min(parcelBytes, c.s.most))
	c.out.reap(c.s.m)
	c.s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	b := c.s.m.parcel()
	n, end := r.Read(b[:n])
	if n <= 0 {
		c.s.m.giveBack(b)
		return 0, end
	}
	for {
		c.s.mu.Lock()
		if err = c.mayWrite(); err == nil {
			c.write.changed.clear()
			err = c.sendParcel(b, n)
		}
		c.s.mu.Unlock()
		switch err {
		case nil:
			return n, end
		case errNoRoom:
			c.wait()
		default:
			return 0, err
		}
	}
}
