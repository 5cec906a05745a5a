package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// lookEvery is how many operations go by between two looks at what makes waiting pointless.
const lookEvery = 1 << 10

// Giver is the client's end of one test: a stream of its own.
type Giver struct {
	ctx      context.Context
	mux      *stream.Mux
	conn     *stream.Conn
	patience time.Duration
	passed   uint64
}

// Open opens the stream towards a taker. Calls on it end with ctx, and with an error when what they wait for doesn't come for so long.
//
// Errors: those of stream.New and of Mux.Open.
func Open(ctx context.Context, w *braid.Worker, ep *braid.Endpoint, patience time.Duration) (*Giver, error) {
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		return nil, err
	}
	c, err := m.Open(ctx, ep)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // fails of one that is over
	return &Giver{ctx: ctx, mux: m, conn: c, patience: patience}, nil
}

// Write writes one operation.
func (g *Giver) Write(body []byte) error {
	if g.passed%lookEvery == 0 {
		if err := g.conn.SetDeadline(time.Now().Add(g.patience)); err != nil {
			return err
		}
		if err := context.Cause(g.ctx); err != nil { // the deadline that it set may just have been replaced
			return err
		}
	}
	g.passed++
	_, err := g.conn.Write(body)
	return g.why(err)
}

// Read fills back with an answer.
func (g *Giver) Read(back []byte) error {
	_, err := io.ReadFull(g.conn, back)
	return g.why(err)
}

// why is what an error of the stream means.
func (g *Giver) why(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if err := context.Cause(g.ctx); err != nil {
		return err
	}
	return fmt.Errorf("nothing has come on the stream for %v, although the connection stands", g.patience)
}

// Close ends the stream. What it carried was answered, or is of no use.
func (g *Giver) Close() { _ = g.mux.Close() }
