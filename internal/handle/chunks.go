package handle

import (
	"context"
	"errors"
	"iter"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/offer"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// source is what is read piece by piece. Both functions under the lock.
type source struct {
	size  uint64
	peer  string // whose it is, for errors
	piece func(dst []byte, at uint64) (*request.Request, error)
	close func(whole bool) // nothing more is read
}

// ahead is how many pieces are read at a time: one that its user looks at, one that comes, and two that are asked for.
const ahead = 4

// Chunks ranges over the payload of a message: what was offered is read through buf. An error is the last that there is.
func (d *Desk) Chunks(ctx context.Context, buf []byte, t *offer.Table, m *delivery.Message) iter.Seq2[[]byte, error] {
	if m.Offer == nil {
		return func(yield func([]byte, error) bool) {
			if len(m.Payload) > 0 {
				yield(m.Payload, nil)
			}
		}
	}
	return d.chunks(ctx, buf, source{size: offer.Size(m), peer: offer.Where(m),
		piece: func(dst []byte, at uint64) (*request.Request, error) { return t.Piece(m, dst, at) },
		close: func(whole bool) { t.Close(m, whole) },
	})
}

// chunks ranges over a source through buf, in order, and closes it.
func (d *Desk) chunks(ctx context.Context, buf []byte, s source) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := d.MayWait("am receive", s.peer); err != nil {
			yield(nil, err)
			return
		}
		if len(buf) == 0 {
			yield(nil, d.refusal("am receive", s.peer, errors.New("no memory for a piece: the buffer is empty")))
			return
		}
		c := reader{d: d, s: s, buf: buf, each: max(len(buf)/ahead, 1)}
		defer c.close() // also if the loop panics
		for c.read < s.size {
			piece, err := c.next(ctx)
			if !yield(piece, err) || err != nil {
				return
			}
		}
	}
}

// reader is how far one is.
type reader struct {
	d           *Desk
	s           source
	buf         []byte
	each        int    // bytes of a piece
	asked, read uint64 // bytes
	under       []*request.Request
}

// place is where what stands at an offset is read: the buffer is a ring.
func (c *reader) place(at uint64) []byte {
	slots := uint64(len(c.buf) / c.each)
	from := int(at/uint64(c.each)%slots) * c.each
	n := int(min(uint64(c.each), c.s.size-at))
	return c.buf[from : from+n : from+n]
}

// next asks for what there is room for, and is the next piece.
func (c *reader) next(ctx context.Context) ([]byte, error) {
	for len(c.under) < len(c.buf)/c.each && c.asked < c.s.size {
		dst := c.place(c.asked)
		c.d.Lock()
		r, err := c.s.piece(dst, c.asked)
		c.d.Unlock()
		if err != nil {
			return nil, c.d.shown(err)
		}
		c.asked += uint64(len(dst))
		c.under = append(c.under, r)
	}
	r := c.under[0]
	c.under = c.under[1:]
	if _, err := c.d.Await(ctx, r); err != nil {
		return nil, err
	}
	piece := c.place(c.read)
	c.read += uint64(len(piece))
	return piece, nil
}

// close has what is under way let go of the buffer, and ends it all.
func (c *reader) close() {
	over, cancel := context.WithCancelCause(context.Background())
	cancel(outcome.ErrCanceled)
	for _, r := range c.under {
		_, _ = c.d.Await(over, r)
	}
	c.d.Lock()
	c.s.close(c.read == c.s.size)
	c.d.Unlock()
}
