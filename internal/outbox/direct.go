package outbox

import (
	"github.com/openbraid/braid/internal/direct"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// directTurn is how much is copied in one post, or one turn: others wait for it.
const directTurn = 4 << 20

// findReach looks for a lane over which memory can be borrowed, among those that are used.
func (b *Box) findReach() {
	b.reach = direct.Reach{Done: &b.Direct}
	for i := 0; i < len(b.use) && b.reach.By == nil; i++ {
		b.reach.By, _ = b.use[i].Tep.(transport.Borrower)
	}
}

// free says whether so many bytes with this fence may pass the lanes by: all before it is executed, as they are when the post returns.
func (b *Box) free(barrier uint64, n int) bool {
	b.scratch.Once = request.Once{End: request.Mapped, Bytes: uint64(n)}
	free := b.reach.By != nil && n <= directTurn
	if free && barrier != 0 {
		_, free = b.book.Sole(barrier)
	}
	return free
}

// fetched makes the request of a fetch that is over.
func (b *Box) fetched(h *wire.AtomicOp, old uint64) *request.Request {
	r := b.pool.Get(request.Atomic, b)
	r.Fetched(h, old)
	b.report(r, nil)
	return r
}

// directPart does a turn's worth of a put or a get that is too large for one, and says whether it did.
func (b *Box) directPart(r *request.Request) bool {
	n := min(len(r.Payload), directTurn)
	if r.Kind != request.Put && r.Kind != request.Get || r.Signals || !b.free(b.book.BarrierOf(r.Epoch), n) {
		return false
	}
	if !b.reach.Copy(r.Payload[:n], &r.Key, r.Offset+r.Posted, r.Kind == request.Get) {
		return false
	}
	r.Begun, r.Trace.Mapped = true, true
	r.Over++ // as a frame that is executed
	r.Posted, r.Payload = r.Posted+uint64(n), r.Payload[n:]
	if r.Whole = len(r.Payload) == 0; !r.Whole {
		b.host.Later()
	}
	return true
}
