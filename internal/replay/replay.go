package replay

import (
	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Handover is what became of the operations of one lost lane.
type Handover struct {
	Settled  func() // called once: everything that was on the lane is executed, or ended
	Looks    func() // called behind it: somebody may wait for just this lane
	Replayed uint64 // bytes posted again
	left     int    // frames handed back and not executed
	purged   bool
}

// Over says that nothing of the lane is left.
func (h *Handover) Over() bool { return h.purged && h.left == 0 }

// Purged notes that the lane has handed back all that it had.
func (h *Handover) Purged() {
	h.purged = true
	h.settle()
}

// settle announces a hand-over of which nothing is left. That is so once: no frame is handed back any more.
func (h *Handover) settle() {
	if !h.Over() {
		return
	}
	if h.Settled != nil {
		h.Settled()
	}
	if h.Looks != nil {
		h.Looks()
	}
}

// Frame is a frame that a lost lane handed back. It is the Completer of its next life, in front of the one before, so that the end of a whole
// hand-over is seen.
type Frame struct {
	transport.Frame
	Entry

	before transport.Completer // of the life before, and its tag
	tag    uint64
	of     *Handover
}

// Entry is how a frame's operation stands in the book. At is nil: it is no operation's.
type Entry struct {
	Epoch   uint64
	At, Off *order.Place // where it is, and no lane
}

// Answer is a frame that is no operation's: of an answer, a note, a credit.
func Answer(f *transport.Frame) *Frame { return &Frame{Frame: *f, before: f.Done, tag: f.Tag} }

// Operation is a frame of an operation. In the book it moves to no lane; its end is before's, with a tag.
func Operation(f *transport.Frame, e Entry, before transport.Completer, tag uint64) *Frame {
	r := &Frame{Frame: *f, Entry: e, before: before, tag: tag}
	r.Move(e.Off)
	return r
}

// Again is a frame that was lost once more.
func Again(f *transport.Frame, last *Frame) *Frame {
	if last.At == nil {
		return Answer(f)
	}
	e := last.Entry
	last.At = last.Off // that is where its life ended
	return Operation(f, e, last, 0)
}

// Wait makes it one of h's, that is to be posted again. What was the lost lane's memory is its own from now on.
func (r *Frame) Wait(h *Handover) {
	r.of = h
	h.left++
	r.Head = append([]byte(nil), r.Head...)
	if !r.ZeroCopy {
		r.Payload = append([]byte(nil), r.Payload...)
	}
	r.Done, r.Tag = r, 0
}

// Own copies what is still its user's.
func (r *Frame) Own() {
	if r.ZeroCopy {
		r.Payload, r.ZeroCopy = append([]byte(nil), r.Payload...), false
	}
}

// Posted notes that a lane has taken it, and whether that copied all of it.
func (r *Frame) Posted(copied bool) {
	r.of.Replayed += uint64(r.Len())
	if !copied {
		return
	}
	if r.ZeroCopy {
		r.Sent(0)
	}
	r.Head, r.Payload = nil, nil
}

// Operates says whether it is in the book.
func (r *Frame) Operates() bool { return r.At != nil }

// Move takes it to another place of the book.
func (r *Frame) Move(to *order.Place) {
	if r.At != to {
		to.Enter(r.Epoch)
		r.At.Leave(r.Epoch)
		r.At = to
	}
}

// Sent implements transport.Completer.
func (r *Frame) Sent(uint64) { r.before.Sent(r.tag) }

// Executed implements transport.Completer.
func (r *Frame) Executed(_ uint64, err error) {
	r.of.left--
	if r.At != nil {
		r.Move(r.Off) // that is where its first life ends
	}
	r.before.Executed(r.tag, err)
	r.of.settle()
}

// Dropped notes that it will not be posted again, for each lane that it was lost on.
func (r *Frame) Dropped() {
	for f, ok := r, true; ok; f, ok = f.before.(*Frame) {
		f.of.left--
		f.of.settle()
	}
}

// Origin is the completer of a frame's first life.
func Origin(c transport.Completer) transport.Completer {
	for r, ok := c.(*Frame); ok; r, ok = c.(*Frame) {
		c = r.before
	}
	return c
}

// Request is the request that a completer leads to, or nil.
func Request(c transport.Completer) *request.Request {
	if d, ok := Origin(c).(*request.Frames); ok {
		return (*request.Request)(d)
	}
	return nil
}

// MustFollow says whether it is the signal of a put of which other frames are not executed yet.
func (r *Frame) MustFollow() bool {
	if r.ID != wire.IDPutSignal {
		return false
	}
	q := Request(r.before)
	return q != nil && q.Frames > 1
}
