package reassembly

import "errors"

var (
	// ErrLimit: the message does not fit into what may be held.
	ErrLimit = errors.New("reassembly: message exceeds the limit")
	// ErrFragment: a fragment that can't belong to any message that has begun.
	ErrFragment = errors.New("reassembly: fragment of no message, or out of its bounds")
)

// Message is one that has begun and is not whole yet.
type Message struct {
	ID     uint64
	AM     uint16
	Header []byte
	Data   []byte
	parts  bool   // waits for Close, even when it is whole
	have   []span // what arrived, sorted, not touching
}

type span struct{ from, to uint64 }

// MaxOpen is how many messages of an endpoint may be unfinished: far more than a sender begins.
const MaxOpen = 64

// Table is the messages of one endpoint.
type Table struct {
	Limit uint64
	open  []*Message
	held  uint64
}

// Held is the number of bytes reserved.
func (t *Table) Held() uint64 { return t.held }

// Begin announces a message of total bytes. header is copied.
func (t *Table) Begin(id uint64, am uint16, header []byte, total uint64) (*Message, error) {
	if total > t.Limit || t.held+total > t.Limit {
		return nil, ErrLimit
	}
	if len(t.open) >= MaxOpen {
		return nil, ErrLimit
	}
	if t.find(id) != nil {
		return nil, ErrFragment
	}
	m := &Message{ID: id, AM: am, Header: append([]byte(nil), header...), Data: make([]byte, total)}
	t.open = append(t.open, m)
	t.held += total
	return m, nil
}

// Part announces a message of parts, unless it is known already.
func (t *Table) Part(id, total uint64) error {
	if m := t.find(id); m != nil {
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
	m := t.find(id)
	if m == nil || !m.parts || uint64(len(m.Data)) != total || !m.whole() {
		return nil, ErrFragment
	}
	m.AM, m.Header = am, append([]byte(nil), header...)
	t.remove(m)
	return m, nil
}

func (t *Table) find(id uint64) *Message {
	for _, m := range t.open {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Room is the memory for a fragment that is about to arrive, or an error.
func (t *Table) Room(id, offset, size uint64) ([]byte, error) {
	m := t.find(id)
	if m == nil || size > uint64(len(m.Data)) || offset > uint64(len(m.Data))-size || m.overlaps(offset, offset+size) {
		return nil, ErrFragment
	}
	return m.Data[offset : offset+size : offset+size], nil
}

// Filled notes that the fragment's bytes are in place. It returns the message when that made it whole.
func (t *Table) Filled(id, offset, size uint64) (*Message, error) {
	if _, err := t.Room(id, offset, size); err != nil {
		return nil, err
	}
	m := t.find(id)
	m.add(offset, offset+size)
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
	for i, o := range t.open {
		if o == m {
			t.open = append(t.open[:i], t.open[i+1:]...)
		}
	}
	t.held -= uint64(len(m.Data))
}

// Drop forgets everything.
func (t *Table) Drop() { t.open, t.held = nil, 0 }

// Open is the number of messages that have begun.
func (t *Table) Open() int { return len(t.open) }

func (m *Message) overlaps(from, to uint64) bool {
	for _, s := range m.have {
		if from < s.to && s.from < to {
			return true
		}
	}
	return false
}

// add merges [from, to), which overlaps nothing, into the sorted list.
func (m *Message) add(from, to uint64) {
	i := 0
	for i < len(m.have) && m.have[i].to < from {
		i++
	}
	j := i
	for j < len(m.have) && m.have[j].from <= to {
		from, to = min(from, m.have[j].from), max(to, m.have[j].to)
		j++
	}
	m.have = append(m.have[:i], append([]span{{from, to}}, m.have[j:]...)...)
}
