package worker

import (
	"fmt"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Calls are those of a box that its user makes. An endpoint embeds them.
type Calls struct{ b *outbox.Box }

// PostAM sends an active message of a program's own. See outbox.Box.PostAM.
func (c Calls) PostAM(id uint16, header, payload []byte) (*request.Request, error) {
	if err := family.Check(id); err != nil {
		return nil, outcome.As("am", c.b.Addr, outcome.NotExecuted, fmt.Errorf("%w: %w", outcome.ErrLimit, err))
	}
	return c.b.PostAM(id, header, payload)
}

// Box is the box, for what is posted through a room of the engine's.
func (c Calls) Box() *outbox.Box { return c.b }

// MaxMessage is how many bytes a message may have that the peer takes.
func (c Calls) MaxMessage() uint64 { return c.b.MaxMessage }

// PostPut writes into the peer's memory. See outbox.Box.PostPut.
func (c Calls) PostPut(src []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	return c.b.PostPut(src, key, offset)
}

// PostPutSignal is PostPut, and then changes a word. See outbox.Box.PostPutSignal.
func (c Calls) PostPutSignal(src []byte, key wire.RKey, offset uint64, s outbox.Signal) (*request.Request, error) {
	return c.b.PostPutSignal(src, key, offset, s)
}

// PostGet reads the peer's memory. See outbox.Box.PostGet.
func (c Calls) PostGet(dst []byte, key wire.RKey, offset uint64) (*request.Request, error) {
	return c.b.PostGet(dst, key, offset)
}

// PostAtomic changes one word of the peer's memory. See outbox.Box.PostAtomic.
func (c Calls) PostAtomic(key wire.RKey, h wire.AtomicOp) (*request.Request, error) {
	return c.b.PostAtomic(key, h)
}

// PostFlush waits for everything posted before, or for what f says. See outbox.Box.PostFlush.
func (c Calls) PostFlush(f outbox.Flushing) (*request.Request, error) { return c.b.PostFlush(f) }

// PostRoom waits until more may be posted. See outbox.Box.PostRoom.
func (c Calls) PostRoom() (*request.Request, error) { return c.b.PostRoom() }

// Fence keeps what is posted from now on behind what was posted before. See outbox.Box.Fence.
func (c Calls) Fence() { c.b.Fence() }

// Idle says what of the endpoint's operations is left, nil if nothing is. See outbox.Box.Idle.
func (c Calls) Idle() error { return c.b.Idle() }
