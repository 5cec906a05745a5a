package owed

import (
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// notes are those that were not posted yet, and how many the peer has not accepted.
type notes struct {
	queue []wire.TagNote
	left  int
}

// noteDone is the debts as the Completer of a note.
type noteDone Debts

func (c *noteDone) Sent(uint64) {}
func (c *noteDone) Executed(uint64, error) {
	d := (*Debts)(c)
	if d.notes.left--; d.notes.left == 0 {
		d.host.Paid()
	}
}

// Tell tells the peer about a tagged message. No limit: it is of one that the peer sent, or has.
func (d *Debts) Tell(h wire.TagNote) {
	if d.Closed {
		return
	}
	d.notes.queue = append(d.notes.queue, h)
	d.notes.left++
	if d.postNotes(); len(d.notes.queue) > 0 {
		d.host.Wake()
	}
}

func (d *Debts) postNotes() (n int) {
	q := &d.notes.queue
	for n < len(*q) {
		l := d.host.Carrier(wire.TagNoteSize)
		if l == nil {
			break
		}
		*d.frame = transport.Frame{ID: wire.IDTagNote, Head: (*q)[n].AppendTo(d.head[:0]), Done: (*noteDone)(d)}
		if !d.post(l) {
			break
		}
		n++
	}
	if n > 0 {
		*q = append((*q)[:0], (*q)[n:]...)
		d.host.Posted()
	}
	return n
}
