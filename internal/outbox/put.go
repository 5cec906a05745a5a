package outbox

import (
	"fmt"

	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// A message that its sender puts: the receive says that it has room (TagClear), and counts what comes (TagPut). Both are debts, as answers to gets are: no
// fence and no limit stops them (docs/tag.md).

// clear says where there is room for a message.
func (b *Box) clear(r *request.Request, dst []byte) {
	r.Expect(dst)
	b.wait(&b.gets.waiting, r)
	b.host.Posted()
	b.Clear(wire.TagClear{Op: r.Offer, To: r.Op(), Size: r.Left})
}

// Cleared puts a message for which the peer has room. The error says that it can't have asked.
func (b *Box) Cleared(h wire.TagClear) error {
	r := b.asks(h.Op)
	if r == nil {
		return b.Late(h)
	}
	if err := r.Cleared(h.Size); err != nil {
		return err
	}
	b.Debts.Cleared(h, r.Lent)
	return nil
}

// cleared is the receive that has room of this name, nil if there is none.
func (b *Box) cleared(to uint64) *request.Request {
	if r := b.get(to); r != nil && r.Left > 0 {
		return r
	}
	return nil
}

// PutRoom is GetRoom of bytes of a message.
func (b *Box) PutRoom(h wire.TagPut, size int) ([]byte, *request.Request) {
	if r := b.cleared(h.To); r != nil && h.Code == 0 {
		return r.Into(h.At, size), r
	}
	return nil, nil
}

// Landed takes bytes of a message, or the word that no more come. The error says that the peer can't have put them there.
func (b *Box) Landed(h wire.TagPut, payload []byte, placed bool, on wire.Instance) error {
	r := b.cleared(h.To)
	if r == nil {
		return fmt.Errorf("%d bytes of a message that nobody has asked to have put there", len(payload))
	}
	back, err := r.Landed(h, uint64(len(payload)))
	switch {
	case err != nil:
		return err
	case back:
		r.Err = b.tookBack(r)
	case !placed:
		copy(r.Into(h.At, len(payload)), payload)
	}
	if r.Trace.Came(on); r.Left > 0 {
		return nil
	}
	r.Replies = 0
	return b.arrived(r)
}
