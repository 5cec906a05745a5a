package owed

import (
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// notes are those that were not posted yet, and how many the peer has not accepted.
type notes struct {
	queue []note
	left  int
}

// note is a word about a message, or, where it has a size, that there is room for one.
type note struct {
	wire.TagNote
	to, size uint64
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
func (d *Debts) Tell(h wire.TagNote) { d.tell(note{TagNote: h}) }

// Clear tells the peer that there is room for a message that it has offered.
func (d *Debts) Clear(h wire.TagClear) {
	d.tell(note{TagNote: wire.TagNote{Op: h.Op}, to: h.To, size: h.Size})
}

func (d *Debts) tell(h note) {
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
		l := d.host.Carrier(wire.TagClearSize)
		if l == nil {
			break
		}
		h := &(*q)[n]
		*d.frame = transport.Frame{ID: wire.IDTagNote, Head: h.AppendTo(d.head[:0]), Done: (*noteDone)(d)}
		if h.size > 0 {
			d.frame.ID, d.frame.Head = wire.IDTagClear, wire.TagClear{Op: h.Op, To: h.to, Size: h.size}.AppendTo(d.head[:0])
		}
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
