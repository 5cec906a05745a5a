package streams

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
	"github.com/openbraid/braid/stream"
)

// chunk is how much is taken out of a stream at a time where operations are small.
const chunk = 64 << 10

// Taker is the server's end of one test. It has a goroutine of its own as long as its stream lasts.
type Taker struct {
	size   int
	answer bool
	ledger *ledger.Ledger
	bind   string // processor; "": any

	busy    sync.WaitGroup
	mu      sync.Mutex
	conn    *stream.Conn
	closed  bool
	arrived uint64 // operations that are whole
	due     uint64 // how many told waits for
	told    func()
}

// NewTaker makes one for operations of size bytes, above zero, each of which is answered by as many if answer says so. l has their bytes looked at
// until Close; nil: nobody looks. The process is bound to a processor as cpu.HoldAll does it.
func NewTaker(size int, answer bool, l *ledger.Ledger, bind string) *Taker {
	return &Taker{size: size, answer: answer, ledger: l, bind: bind}
}

// Serve gives each stream that is opened on a worker to the taker that of names for its endpoint, and resets those that nobody takes, until the Mux
// that it makes is closed.
//
// Errors: those of stream.New.
func Serve(w *braid.Worker, of func(*braid.Endpoint) *Taker) (*stream.Mux, error) {
	m, err := stream.New(w, stream.Options{})
	if err != nil {
		return nil, err
	}
	ln, err := m.Incoming()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			c := nc.(*stream.Conn) // what a stream's listener gives
			if t := of(c.Endpoint()); t == nil || !t.begin(c) {
				c.Reset("no test over a stream is under way on this endpoint")
			}
		}
	}()
	return m, nil
}

// begin takes what comes on c. A test has one stream.
func (t *Taker) begin(c *stream.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.conn != nil || t.closed {
		return false
	}
	t.conn = c
	t.busy.Go(func() { t.take(c) })
	return true
}

func (t *Taker) take(c *stream.Conn) {
	if err := cpu.HoldAll(t.bind); err != nil {
		c.Reset(err.Error())
		return
	}
	in := bufio.NewReaderSize(c, chunk)
	body, back := make([]byte, t.size), make([]byte, t.size)
	for {
		if _, err := io.ReadFull(in, body); err != nil {
			return // the endpoint's end is an event, and what is missing is counted
		}
		seq := t.took(body)
		if !t.answer {
			continue
		}
		if t.ledger != nil {
			pattern.Fill(back, pattern.Base(seq, true))
		}
		if _, err := c.Write(back); err != nil {
			return
		}
	}
}

// took counts an operation, and says its number.
func (t *Taker) took(body []byte) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	seq := t.arrived
	t.arrived++
	if t.ledger != nil {
		t.ledger.Numbered(seq, body, false)
	}
	if t.told != nil && t.arrived >= t.due {
		t.told()
		t.told = nil
	}
	return seq
}

// When calls told as soon as n operations have arrived, once, from any goroutine. A second call takes the place of one that waits.
func (t *Taker) When(n uint64, told func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.arrived >= n {
		told()
		return
	}
	t.due, t.told = n, told
}

// Close ends it, and says how many operations have arrived. The ledger is the caller's again. A second time it only says.
func (t *Taker) Close() uint64 {
	t.mu.Lock()
	t.closed, t.told = true, nil
	if t.conn != nil {
		_ = t.conn.Close() // once is enough
	}
	t.mu.Unlock()
	t.busy.Wait()
	return t.arrived
}
