package landing

import (
	"bytes"

	"github.com/openbraid/braid"
)

// Field is that of one endpoint. The zero value has no memory yet.
type Field struct {
	free [][]byte
	due  []*landing // in the order in which the handler had them
}

// landing is a message that is being read.
type landing struct {
	head, body []byte
	over, here bool
}

// Receive reads a message and hands it on, unless it came whole: then it is the caller's, and Receive says so. Inside its handler. Many are read at a time, and handed on in the order of
// the handler, whichever is here first.
func (f *Field) Receive(m *braid.Message, here func(head, body []byte)) (whole bool) {
	if m.Size() == len(m.Payload()) {
		return true
	}
	l := &landing{head: bytes.Clone(m.Header()), body: f.memory(m.Size())}
	f.due = append(f.due, l)
	m.PostRecv(l.body).Then(func(err error) {
		l.over, l.here = true, err == nil // else its sender knows, and it is missed
		for len(f.due) > 0 && f.due[0].over {
			l := f.due[0]
			if f.due = f.due[1:]; l.here {
				here(l.head, l.body)
			}
			f.free = append(f.free, l.body)
		}
	})
	return false
}

// memory is some of n bytes.
func (f *Field) memory(n int) []byte {
	if k := len(f.free) - 1; k >= 0 && cap(f.free[k]) >= n {
		b := f.free[k]
		f.free = f.free[:k]
		return b[:n]
	}
	return make([]byte, n)
}
