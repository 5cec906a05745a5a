package outbox

import (
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// A put with a signal goes as any put, over all lanes. Its last frame changes the word: it is posted when all others are acknowledged,
// or behind them where they are all on one lane that is in order. A short one is a single frame. No other operation is
// waited for, and none waits for it: it is weaker and cheaper than a fence.

// Signal is the word that follows a put.
type Signal struct {
	Key    wire.RKey
	Offset uint64
	Value  uint64
	Add    bool
}

// PostPutSignal writes src into the peer's memory that key names, and then changes a word.
func (b *Box) PostPutSignal(src []byte, key wire.RKey, offset uint64, s Signal) (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("put", outcome.NotExecuted, b.shut)
	}
	if err := b.MaySignal(s.Key, s.Offset); err != nil {
		return nil, b.fail("put", outcome.NotExecuted, err)
	}
	if err := b.MayAccess(wire.Write, len(src), key, offset); err != nil {
		return nil, b.fail("put", outcome.NotExecuted, err)
	}
	signal := wire.Signal{Index: s.Key.Index, Secret: s.Key.Secret, Offset: s.Offset, Value: s.Value, Add: s.Add}
	if b.free(b.book.Barrier(), len(src)) && b.reach.PutSignal(src, &key, offset, &s.Key, &signal) {
		b.Puts++
		return nil, nil
	}
	h := wire.PutSignal{Put: wire.Put{Index: key.Index, Secret: key.Secret, Offset: offset}, Signal: signal}
	if b.shortSignal(src, h) {
		return nil, nil
	}
	if err := b.full("put", &b.pendAny, len(src)); err != nil {
		return nil, err
	}
	r := b.pool.Get(request.Put, b)
	r.Payload, r.Key, r.Offset = src, key, offset
	r.Signal, r.Signals = signal, true
	b.Puts++
	b.enqueue(&b.pendAny, r)
	return r, nil
}

func (b *Box) shortSignal(src []byte, h wire.PutSignal) bool {
	if b.pendAny.Len() > 0 || b.replayAny.Len() > 0 || !b.Limits.Short(wire.PutSignalSize+len(src)) {
		return false
	}
	l := b.laneFor(false, b.book.Barrier(), len(src))
	if l == nil {
		return false
	}
	w := b.scratch
	w.Frame = transport.Frame{ID: wire.IDPutSignal, Head: h.AppendTo(w.Head[:0]), Payload: src, Done: (*putDone)(l), Tag: b.book.Current()}
	w.Once = request.Once{End: &l.once, Bytes: uint64(len(src))}
	if l.Tep.Post(&w.Frame) != transport.Done {
		return false
	}
	epoch := b.book.Issue(l.place)
	l.touch(h.Index, epoch)
	l.touch(h.Signal.Index, epoch)
	b.Puts++
	b.host.Posted()
	return true
}

// inOne says whether a put with a signal, of which nothing was posted, goes in one frame.
func (b *Box) inOne(r *request.Request) bool {
	return !r.Begun && b.Limits.Short(wire.PutSignalSize+len(r.Payload))
}

// closeSignal posts the last frame of a put with a signal, if it may go.
func (b *Box) closeSignal(r *request.Request) (n int, done bool) {
	if r.Frames == 0 && r.Err != nil { // a frame was refused: the peer is not told that all is there
		r.Whole = true
		return 0, true
	}
	l := b.laneFor(false, b.book.BarrierOf(r.Epoch), len(r.Payload))
	if r.Frames > 0 {
		l = b.behind(r)
	}
	if l == nil {
		return 0, false
	}
	w := b.scratch
	protocol.Signal(r, w.Head[:0], &w.Frame)
	w.Frame.AckNow = b.awaited(r.Epoch)
	if !b.post(l, r, &w.Frame) {
		return 0, false
	}
	l.touch(r.Signal.Index, r.Epoch)
	return 1, true
}

// behind is the lane that all unexecuted frames of r are on, nil if it is not one, or not in order.
func (b *Box) behind(r *request.Request) *seat {
	for _, s := range b.up {
		if s.id != r.Lane || !s.InOrder {
			continue
		}
		if barrier := b.book.BarrierOf(r.Epoch); barrier == 0 || b.book.MayPost(barrier, s.place) {
			return s
		}
	}
	return nil
}

// postSignals posts the signals of puts whose frames are all on lanes, in whatever order they may go.
func (b *Box) postSignals() (n int) {
	if b.replayAny.Len() > 0 {
		return 0
	}
	for r := b.signals.Head(); r != nil; {
		next := r.Next
		if k, done := b.closeSignal(r); done {
			n += k
			b.signals.Remove(r)
			b.ended(r)
		}
		r = next
	}
	return n
}
