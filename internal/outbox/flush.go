package outbox

import (
	"errors"
	"slices"

	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Flushing says what a flush is for. The zero value is everything, executed.
type Flushing struct {
	Sent   bool      // only until buffers are free; Lanes and Key are not looked at
	Cancel bool      // what waits here is canceled
	Lanes  []string  // by their instances; nil: all. With Key they are not looked at
	Key    wire.RKey // zero: all memory, and messages
}

// PostFlush ends when every operation posted before is executed at the target, or those of f are.
func (b *Box) PostFlush(f Flushing) (*request.Request, error) {
	if b.shut != nil && errors.Is(b.shut, outcome.ErrClosed) {
		return nil, b.fail("flush", outcome.NotExecuted, b.shut)
	}
	return b.postFlush(f)
}

// postFlush is PostFlush, also of what is being closed: such a flush ends with the close.
func (b *Box) postFlush(f Flushing) (*request.Request, error) {
	if b.end != nil {
		return nil, b.fail("flush", outcome.Unknown, outcome.Uncovered(b.end, b.Uncovered()))
	}
	lanes, err := b.Chosen(f.Lanes)
	if err == nil && f.Key != (wire.RKey{}) {
		err = b.Owns(f.Key) // its number may be that of other memory here
	}
	if err != nil {
		return nil, b.fail("flush", outcome.NotExecuted, err)
	}
	f.Lanes = lanes
	if f.Cancel {
		b.cancelWaiting(f.Key)
	}
	epoch, nothing := b.cut()
	s := b.selected(f, epoch)
	switch {
	case s == nil && nothing && b.refusal.err == nil:
		b.covered = b.book.Issued()
		return nil, nil
	case s == nil:
		if nothing {
			b.host.Wake() // it ends in the next turn, if somebody still wants to be told then
		}
		return b.flush(request.Flush, epoch, nothing), nil
	case nothing || b.passed(s):
		return nil, b.refusal.err
	}
	r := b.pool.Get(request.Flush, b)
	r.Result = s
	b.partial.Push(r)
	for _, t := range b.up {
		if t.place.First() <= epoch && (s.lanes == nil || slices.Contains(s.lanes, t)) {
			t.Tep.RequestAck()
		}
	}
	b.host.Posted()
	return r, nil
}

// PostClose is a flush at whose end Host.Flushed is called. It stays until EndClose, or End.
func (b *Box) PostClose() *request.Request {
	epoch, nothing := b.cut()
	r := b.flush(request.Close, epoch, nothing)
	b.Recheck()
	return r
}

// cut ends the epoch. With nothing left to wait for, a flush need not.
func (b *Box) cut() (epoch uint64, nothing bool) {
	epoch, nothing = b.book.Cut()
	return epoch, nothing && b.unsent.Len() == 0
}

// done says whether everything up to an epoch is executed, and the result of each fetch is here.
func (b *Box) done(epoch uint64) bool { return b.book.Done(epoch) && b.unsent.First() > epoch }

func (b *Box) flush(kind request.Kind, epoch uint64, nothing bool) *request.Request {
	r := b.pool.Get(kind, b)
	r.Epoch, r.Issued, r.Whole = epoch, b.book.Issued(), nothing
	b.flushes.Push(r)
	for _, s := range b.up {
		s.Tep.RequestAck()
	}
	b.host.Posted()
	return r
}

// Recheck ends the flushes that have nothing left to wait for. A close that waits for the peer only calls Host.Flushed each time: its lanes may have changed.
func (b *Box) Recheck() {
	if b.end != nil {
		return // what they waited for has ended, and not well
	}
	for r := b.flushes.Head(); r != nil; r = b.flushes.Head() {
		if !r.Whole && !b.done(r.Epoch) {
			break
		}
		if r.Kind == request.Close {
			if _, notes := b.Left(); notes > 0 {
				break // the peer waits for them
			}
			b.host.Flushed()
			break // it ends when the peer agrees
		}
		b.flushes.Pop()
		b.covered = r.Issued
		r.Retired = true
		b.report(r, b.verdict(r))
	}
	b.checkPartial()
}

// EndClose ends a close that was posted: with nil, everything is covered.
func (b *Box) EndClose(r *request.Request, err error) {
	agreed := err == nil
	if agreed {
		b.covered = b.book.Issued()
		err = b.verdict(r)
	} else {
		err = b.fail("close", outcome.Unknown, err)
	}
	b.flushes.Remove(r)
	r.Retired = true
	b.report(r, err)
	if agreed {
		b.Recheck() // flushes of the worker stand behind it
	}
}

// selection is what a flush of a part waits for, of the epochs up to its own. One of the three.
type selection struct {
	epoch uint64
	sent  bool
	key   wire.RKey
	lanes []*seat
}

// selected is what f selects of the epochs up to the given one, nil if that is everything.
func (b *Box) selected(f Flushing, epoch uint64) *selection {
	if !f.Sent && f.Lanes == nil && f.Key == (wire.RKey{}) {
		return nil
	}
	s := &selection{epoch: epoch, sent: f.Sent, key: f.Key}
	if f.Sent || f.Key != (wire.RKey{}) {
		return s
	}
	for _, id := range f.Lanes {
		i := slices.IndexFunc(b.up, func(t *seat) bool { return t.ID.String() == id })
		if i < 0 {
			return nil // it is lost, and what was on it may be anywhere
		}
		s.lanes = append(s.lanes, b.up[i])
	}
	return s
}

// passed says whether nothing selected is left.
func (b *Box) passed(s *selection) bool {
	switch {
	case s.sent:
		return b.unsent.First() > s.epoch
	case s.key != wire.RKey{}:
		return b.regionPassed(s.key, s.epoch)
	}
	for _, t := range s.lanes { // and where one is lost, all that it handed back
		if t.place.First() <= s.epoch || t.hand != nil && !t.hand.Over() {
			return false
		}
	}
	return true
}

// regionPassed looks where operations for a region may be, wherever they were when the flush began.
func (b *Box) regionPassed(key wire.RKey, epoch uint64) bool {
	for _, t := range b.all {
		if t.place.First() <= min(epoch, t.touched.Last(key.Index)) {
			return false
		}
	}
	if b.off.place.First() > epoch && b.unsent.First() > epoch {
		return true
	}
	for _, q := range []*request.Queue{&b.pendAny, &b.signals, &b.gets.pend, &b.gets.waiting} {
		for r := q.Head(); r != nil; r = r.Next {
			if r.Epoch <= epoch && r.WorksOn(&key) {
				return false
			}
		}
	}
	return b.replayAny.Len() == 0 // any of these may be
}

// checkPartial ends the flushes of parts that have nothing left to wait for.
func (b *Box) checkPartial() {
	if b.end != nil {
		return // as above
	}
	for r := b.partial.Head(); r != nil; {
		next := r.Next
		if s := r.Result.(*selection); b.passed(s) {
			b.partial.Remove(r)
			err := b.verdict(r)
			r.Result, r.Retired = nil, true
			b.report(r, err)
		}
		r = next
	}
}

// cancelWaiting cancels what waits here, of all or of one region: it ends unexecuted. Not what the user has not posted on the endpoint, of which others than he
// expect that it arrives: what a receive reads would be lost, and so would bytes in the middle of a stream.
func (b *Box) cancelWaiting(key wire.RKey) {
	for _, q := range []*request.Queue{&b.pendOrdered, &b.pendAny, &b.gets.pend} {
		for r := q.Head(); r != nil; {
			next := r.Next
			if !r.Indirect() && (key == (wire.RKey{}) || r.WorksOn(&key)) {
				b.Cancel(r)
			}
			r = next
		}
	}
	var back []*request.Request // what lanes handed back waits here again
	for _, q := range []*replay.Queue{&b.replayOrdered, &b.replayAny} {
		for _, p := range q.All() {
			if r := replay.Request(p); r != nil && !r.Indirect() && (key == (wire.RKey{}) || r.WorksOn(&key)) {
				back = append(back, r)
			}
		}
	}
	for _, r := range back { // one of several frames is there several times
		if r.Owner == request.Owner(b) {
			b.unpost(r)
		}
	}
}

// report is the user's end of a request.
func (b *Box) report(r *request.Request, err error) {
	unsent, epoch, whole := r.Unsent, r.Epoch, r.PartOf
	r.Unsent = false
	b.settle(r, err)
	b.host.Report(r, err)
	if unsent {
		b.freed(epoch)
	}
	if whole != nil {
		b.partEnded(whole, err)
	}
}

// freed notes that the buffers of an operation are its user's again.
func (b *Box) freed(epoch uint64) {
	if b.unsent.Leave(epoch) {
		b.Recheck()
	}
}
