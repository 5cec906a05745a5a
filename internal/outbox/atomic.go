package outbox

import (
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// An atomic operation is one frame. One that doesn't fetch goes as a short put does. One that fetches is asked for and answered as a get is, with its
// credits; but it has its effect where it is accepted, so it is executed when its frame is acknowledged, and no fence waits for its answer. The
// answer is the target's operation: kept there until it is acknowledged, and posted again if its lane is lost (docs/atomics.md).

// unnamed is the number of an atomic operation that has no request, should it be refused. Of a put it is 0.
const unnamed = 1

// Called is what an operation that was refused is called, by its number.
func (b *Box) Called(op uint64) string {
	if r := b.pool.Find(op, b); r != nil {
		return r.Kind.String()
	}
	if op == unnamed {
		return request.Atomic.String()
	}
	return request.Put.String()
}

// PostAtomic changes one word of the peer's memory that key names, as h says. Index, Secret and Op of h are filled in here.
func (b *Box) PostAtomic(key wire.RKey, h wire.AtomicOp) (*request.Request, error) {
	if b.shut != nil {
		return nil, b.fail("atomic", outcome.NotExecuted, b.shut)
	}
	if err := b.MayChange(key, h); err != nil {
		return nil, b.fail("atomic", outcome.NotExecuted, err)
	}
	if b.free(b.book.Barrier(), int(h.Size)) {
		if old, ok := b.reach.Atomic(&key, &h); ok {
			b.Atomics++
			b.scratch.Once.Bytes = 0 // a word is no payload, here as on a lane
			if h.Fetch {
				return b.fetched(&h, old), nil
			}
			return nil, nil
		}
	}
	h.Index, h.Secret = key.Index, key.Secret
	q := &b.pendAny
	if h.Fetch {
		q = &b.gets.pend
	} else if b.shortAtomic(h) {
		return nil, nil
	}
	if err := b.full("atomic", q, 0); err != nil {
		return nil, err
	}
	r := b.pool.Get(request.Atomic, b)
	r.Key, r.Offset, r.Change = key, h.Offset, h
	r.Change.Op = r.Op()
	b.Atomics++
	if !h.Fetch {
		b.enqueue(q, r)
		return r, nil
	}
	r.Dst = r.Word[:h.Size]
	b.wait(q, r)
	b.host.Posted()
	b.postGets()
	return r, nil
}

// shortAtomic posts one without a request, if nothing is in its way.
func (b *Box) shortAtomic(h wire.AtomicOp) bool {
	if b.pendAny.Len() > 0 || b.replayAny.Len() > 0 {
		return false
	}
	l := b.laneFor(false, b.book.Barrier(), wire.AtomicOpSize)
	if l == nil {
		return false
	}
	h.Op = unnamed
	w := b.scratch
	w.Frame = transport.Frame{ID: wire.IDAtomicOp, Head: h.AppendTo(w.Head[:0]), Done: (*putDone)(l), Tag: b.book.Current()}
	w.Once = request.Once{End: &l.once}
	if l.Tep.Post(&w.Frame) != transport.Done {
		return false
	}
	l.touch(h.Index, b.book.Issue(l.place))
	b.Atomics++
	b.host.Posted()
	return true
}

// drop ends what the peer would have answered: a lost lane handed it back unexecuted, and it was canceled.
func (g *gets) drop(r *request.Request) {
	if r.Replies == 0 {
		return
	}
	r.Replies = 0
	g.waiting.Remove(r)
	if r.Fetches() {
		g.asked--
	}
}
