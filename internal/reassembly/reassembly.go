package reassembly

import (
	"cmp"
	"errors"
	"slices"

	"github.com/openbraid/braid/transport"
)

var (
	// ErrLimit: the message does not fit into what may be held.
	ErrLimit = errors.New("reassembly: message exceeds the limit")
	// ErrFragment: a fragment that can't belong to any message that has begun.
	ErrFragment = errors.New("reassembly: fragment of no message, or out of its bounds")
)

const (
	// least is what a message counts at the least: an honest one is larger than the smallest frame, and one
	// of a byte costs more than a byte.
	least = 3 << 10
	// maxSpans is how many pieces of a message may stand apart: as many frames as several lanes can be ahead of another.
	maxSpans = 4096
)

// Message is one that has begun and is not whole yet.
type Message struct {
	ID     uint64
	AM     uint16
	Header []byte
	Data   []byte
	Buf    *transport.Buffer // holds Header and Data; the caller's, once the message is whole
	data   *transport.Buffer // holds Data
	have   []span            // what arrived, sorted, not touching
	due    uint64            // bytes that did not arrive yet
	parts  bool              // waits for Close, even when it is whole
	holds  int               // fragments that are being written into Data
}

type span struct{ from, to uint64 }

// Table is the messages of one endpoint.
type Table struct {
	Limit uint64
	Pool  *Pool // where messages have their memory from
	open  map[uint64]*Message
	held  uint64
}

// Held is the number of bytes reserved.
func (t *Table) Held() uint64 { return t.held }

// Begin announces a message of total bytes. header is copied.
func (t *Table) Begin(id uint64, am uint16, header []byte, total uint64) (*Message, error) {
	if t.open[id] != nil {
		return nil, ErrFragment
	}
	if total > t.Limit || t.held+cost(total) > max(t.Limit, least) {
		return nil, ErrLimit
	}
	if t.open == nil {
		t.open = map[uint64]*Message{}
	}
	m := t.Pool.get(total)
	m.ID, m.AM, m.Header = id, am, append(m.Header, header...)
	t.open[id] = m
	t.held += cost(total)
	return m, nil
}

// cost is what a message of total bytes counts.
func cost(total uint64) uint64 { return max(total, least) }

// Part announces a message of parts, unless it is known already.
func (t *Table) Part(id, total uint64) error {
	if m := t.open[id]; m != nil {
		if !m.parts || uint64(len(m.Data)) != total {
			return ErrFragment
		}
		return nil
	}
	m, err := t.Begin(id, 0, nil, total)
	if err == nil {
		m.parts = true
	}
	return err
}

// Close ends a message of parts, which must be whole. header is copied.
func (t *Table) Close(id uint64, am uint16, header []byte, total uint64) (*Message, error) {
	m := t.open[id]
	if m == nil || !m.parts || uint64(len(m.Data)) != total || !m.whole() || m.holds > 0 {
		return nil, ErrFragment
	}
	m.AM, m.Header = am, append(m.Header[:0], header...)
	t.remove(m)
	return m, nil
}

// Room is the memory for a fragment that is about to arrive, or an error.
func (t *Table) Room(id, offset, size uint64) ([]byte, error) {
	m := t.open[id]
	if m == nil || len(m.have) >= maxSpans || size > uint64(len(m.Data)) || offset > uint64(len(m.Data))-size || m.overlaps(offset, offset+size) {
		return nil, ErrFragment
	}
	return m.Data[offset : offset+size : offset+size], nil
}

// Place is Room for who writes into it later, bit by bit, and calls Unplace when that is over, before Filled if it was filled. The
// message is not delivered while anybody may write into it.
func (t *Table) Place(id, offset, size uint64) ([]byte, *Message, error) {
	room, err := t.Room(id, offset, size)
	if err != nil {
		return nil, nil, err
	}
	m := t.open[id]
	m.holds++
	return room, m, nil
}

// Unplace ends what Place began: nothing is written there any more. The message may have been dropped meanwhile.
func (m *Message) Unplace() { m.holds-- }

// Filled notes that the fragment's bytes are in place. It returns the message when that made it whole. A message that would
// be whole while one of its fragments is still being written is refused: that one came twice, on two lanes.
func (t *Table) Filled(id, offset, size uint64) (*Message, error) {
	if _, err := t.Room(id, offset, size); err != nil {
		return nil, err
	}
	m := t.open[id]
	if size == 0 && len(m.Data) > 0 {
		return nil, nil // nothing came
	}
	if !m.parts && m.holds > 0 && m.due == size {
		return nil, ErrFragment
	}
	m.add(offset, offset+size)
	m.due -= size
	if m.parts || !m.whole() {
		return nil, nil
	}
	t.remove(m)
	return m, nil
}

func (m *Message) whole() bool {
	return len(m.have) == 1 && m.have[0] == (span{0, uint64(len(m.Data))})
}

func (t *Table) remove(m *Message) {
	delete(t.open, m.ID)
	t.held -= cost(uint64(len(m.Data)))
}

// Drop forgets everything.
func (t *Table) Drop() {
	for _, m := range t.open { // in any order: nothing but memory comes of it
		if m.holds == 0 { // else somebody still writes there, and nobody else must get it
			m.Release()
		}
	}
	t.open, t.held = nil, 0
}

// Open is the number of messages that have begun.
func (t *Table) Open() int { return len(t.open) }

// first is the index of the first span that ends at or behind from.
func (m *Message) first(from uint64) int {
	i, _ := slices.BinarySearchFunc(m.have, from, func(s span, at uint64) int { return cmp.Compare(s.to, at) })
	return i
}

func (m *Message) overlaps(from, to uint64) bool {
	for i := m.first(from); i < len(m.have) && m.have[i].from < to; i++ {
		if from < m.have[i].to {
			return true
		}
	}
	return false
}

// add merges [from, to), which overlaps nothing, into the sorted list.
func (m *Message) add(from, to uint64) {
	i := m.first(from)
	j := i
	for j < len(m.have) && m.have[j].from <= to {
		from, to = min(from, m.have[j].from), max(to, m.have[j].to)
		j++
	}
	m.have = slices.Replace(m.have, i, j, span{from, to})
}
