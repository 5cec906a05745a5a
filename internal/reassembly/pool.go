package reassembly

import (
	"sync"

	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

const (
	// keepMessages is how many messages without their data a pool keeps,
	keepMessages = 128
	// keepHeader and keepSpans how much each of them may have grown: headers of any size there is, and more pieces apart than
	// a few lanes make. At most 4 KiB each.
	keepHeader = 2 << 10
	keepSpans  = 128
)

// Pool is the messages of one worker, used again: the data by powers of two, and with each message the header and the list of what
// arrived. It has a lock because whoever retained a message may give it back on any goroutine.
type Pool struct {
	data *mpool.Pool

	mu    sync.Mutex
	spare []*Message
}

// NewPool makes a pool; least, most and keep are those of mpool.New, for the data.
func NewPool(least, most, keep int) *Pool {
	return &Pool{data: mpool.New(least, most, keep)}
}

// get returns a message of total bytes whose Buf has one reference.
func (p *Pool) get(total uint64) *Message {
	m := p.pooled()
	m.data = p.data.Get(int(total))
	m.Data, m.due = m.data.Bytes[:total:total], total
	m.Buf.Bytes = m.data.Bytes // who counts what a message holds counts this
	return m
}

// pooled returns a message without its data.
func (p *Pool) pooled() *Message {
	p.mu.Lock()
	if n := len(p.spare); n > 0 {
		m := p.spare[n-1]
		p.spare[n-1] = nil
		p.spare = p.spare[:n-1]
		p.mu.Unlock()
		m.Buf.Revive()
		return m
	}
	p.mu.Unlock()
	m := &Message{}
	m.Buf = transport.NewBuffer(0, func(*transport.Buffer) { p.put(m) })
	return m
}

// put takes back a message to which nobody holds a reference.
func (p *Pool) put(m *Message) {
	data := m.data
	*m = Message{Buf: m.Buf, Header: m.Header[:0], have: m.have[:0]}
	m.Buf.Bytes = nil
	data.Release()
	if cap(m.Header) > keepHeader || cap(m.have) > keepSpans {
		return
	}
	p.mu.Lock()
	if len(p.spare) < keepMessages {
		p.spare = append(p.spare, m)
	}
	p.mu.Unlock()
}

// Release gives up the reference that came with the message. Who retained Buf keeps header and data, and nothing else.
func (m *Message) Release() { m.Buf.Release() }
