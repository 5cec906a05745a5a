package stream

import (
	"io"
	"net"
	"os"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/stream/flow"
	"github.com/openbraid/braid/internal/stream/frame"
)

// inbox is what came and was not read. Under the session's lock.
//
//	message --> the buffer of who waits                   one copy
//	        --> kept as it came, if large --> reader      one copy; none with WriteTo
//	        --> copied together, if small --> reader      a message of a byte would hold its whole receive buffer
type inbox struct {
	want   []byte // of a reader who waits
	got    int    // bytes of it
	chunks []chunk
	spare  []byte // an empty chunk
	taken  bool   // the reader is looking at the first one
	gone   bool   // nobody reads any more
}

// chunk is bytes in a row.
type chunk struct {
	b    []byte
	msg  *braid.Message // they are in; nil: they are ours
	room []byte         // then: all of their memory
}

const (
	// keepFrom is from which size on messages are kept as they came. They hold up to 256 KiB of receive buffers each.
	keepFrom = 32 << 10
	// chunkBytes is how much smaller ones are copied together, unless one is larger.
	chunkBytes = 4 << 10
)

func (in *inbox) put(msg *braid.Message) {
	p := msg.Payload()
	if len(in.chunks) == 0 && in.got < len(in.want) {
		n := copy(in.want[in.got:], p)
		in.got += n
		p = p[n:]
	}
	if len(p) >= keepFrom {
		msg.Retain()
		in.chunks = append(in.chunks, chunk{b: p, msg: msg})
		return
	}
	if n := len(in.chunks); n > 0 && in.chunks[n-1].msg == nil {
		last := &in.chunks[n-1]
		k := min(len(p), cap(last.b)-len(last.b))
		last.b = append(last.b, p[:k]...)
		p = p[k:]
	}
	if len(p) > 0 {
		room := in.spare
		in.spare = nil
		if cap(room) < len(p) {
			room = make([]byte, 0, max(chunkBytes, len(p)))
		}
		in.chunks = append(in.chunks, chunk{b: append(room, p...), room: room})
	}
}

// took takes n bytes off the first chunk, and gives it back when it is empty.
func (in *inbox) took(n int) {
	in.taken = false
	if in.gone {
		in.drop()
		return
	}
	k := &in.chunks[0]
	if k.b = k.b[n:]; len(k.b) > 0 {
		return
	}
	if cap(k.room) == chunkBytes {
		in.spare = k.room
	}
	k.free()
	rest := copy(in.chunks, in.chunks[1:])
	in.chunks[rest] = chunk{}
	in.chunks = in.chunks[:rest]
}

func (k *chunk) free() {
	if k.msg != nil {
		k.msg.Release()
	}
}

// drop gives everything back; what a reader is looking at, when he is done.
func (in *inbox) drop() {
	in.gone = true
	if in.taken {
		return
	}
	for i := range in.chunks {
		in.chunks[i].free()
	}
	in.chunks, in.spare = nil, nil
}

// Read waits for bytes.
//
// Owns:   p is the library's until Read returns.
// Errors: io.EOF: the peer has ended its direction, and everything was read. Else *net.OpError: os.ErrDeadlineExceeded, net.ErrClosed; ErrReset, or
// the endpoint's error, when what came before was read.
// Source: ucp_stream_recv_nbx.
func (c *Conn) Read(p []byte) (int, error) {
	c.read.use.Lock()
	defer c.read.use.Unlock()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for {
		if err := c.mayRead(); err != nil || len(p) == 0 {
			return 0, err
		}
		n := 0
		for n < len(p) && len(c.in.chunks) > 0 {
			b := c.first()
			k := copy(p[n:], b)
			c.s.mu.Lock()
			n += k
			c.in.took(k)
		}
		if n == 0 {
			n = c.await(p)
		}
		if n > 0 {
			c.consumed(n)
			return n, nil
		}
	}
}

// first is the first chunk, to be looked at without the lock, which it gives back.
func (c *Conn) first() []byte {
	c.in.taken = true
	b := c.in.chunks[0].b
	c.s.mu.Unlock()
	return b
}

// mayRead says why nothing can be read, if so. Under the lock.
func (c *Conn) mayRead() error {
	state := c.life.State()
	switch {
	case state == flow.Closed || state == flow.Closing:
		return c.opError("read", net.ErrClosed)
	case c.read.expired:
		return c.opError("read", os.ErrDeadlineExceeded)
	case len(c.in.chunks) > 0 || c.life.MayRead():
		return nil
	case state == flow.Broken:
		return c.opError("read", c.err)
	}
	return io.EOF
}

// await waits for something to change, and says how much of p was filled meanwhile. Under the lock, which it gives away.
func (c *Conn) await(p []byte) int {
	if !c.life.MayRead() {
		return 0
	}
	c.in.want, c.in.got = p, 0
	c.recv.Waits()
	c.read.changed.clear()
	over := c.read.over
	c.s.mu.Unlock()
	wait(until(over), c.s.m.w, &c.read.changed)
	c.s.mu.Lock()
	n := c.in.got
	c.in.want, c.in.got = nil, 0
	return n
}

// consumed notes that n bytes were taken, and tells the peer if it is time. Under the lock.
func (c *Conn) consumed(n int) {
	if c.recv.Consumed(n) && c.life.MayRead() {
		c.s.say(frame.Frame{Kind: frame.Window, Stream: c.id, Total: c.recv.Granted()})
	}
}

// WriteTo writes all that comes to w, from where it arrived, until EOF.
//
// Errors: w's, or as Read, but for EOF.
func (c *Conn) WriteTo(w io.Writer) (total int64, err error) {
	c.read.use.Lock()
	defer c.read.use.Unlock()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for {
		if err := c.mayRead(); err == io.EOF {
			return total, nil
		} else if err != nil {
			return total, err
		}
		if len(c.in.chunks) == 0 {
			c.await(nil)
			continue
		}
		n, err := 0, error(nil)
		b := c.first()
		func() {
			defer c.s.mu.Lock() // also if it panics
			n, err = w.Write(b)
		}()
		n = max(0, min(n, len(b)))
		c.in.took(n)
		c.consumed(n)
		total += int64(n)
		switch {
		case err != nil:
			return total, err
		case n < len(b):
			return total, io.ErrShortWrite
		}
	}
}
