package protocol

import (
	"fmt"

	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/wire"
)

// Peer is what is known of who is to execute operations.
type Peer struct {
	Incarnation uint64 // of its process, 0 while it isn't known
	MaxMessage  uint64 // bytes that it takes
	NoSignal    bool   // it does not know puts with a signal
	NoAtomic    bool   // nor atomic operations
	NoTag       bool   // nor tagged messages
	NoOffer     bool   // nor offers of active ones
	Clears      bool   // it says where it has room for what is offered
}

// Owns says why a key is not of the peer's memory, nil if it is, as far as is known here.
func (p *Peer) Owns(key wire.RKey) error {
	if key == (wire.RKey{}) {
		return fmt.Errorf("%w: the zero RKey is of no memory; ask the peer for one", outcome.ErrAccess)
	}
	if p.Incarnation != 0 && key.Incarnation != p.Incarnation {
		return fmt.Errorf("%w: the key is of another process than this endpoint's peer; ask the peer for a new one", outcome.ErrAccess)
	}
	return nil
}

// MayAccess says why n bytes at offset of key's region can't be used so, nil if nothing of it can be seen here. The target looks again.
func (p *Peer) MayAccess(need wire.Rights, n int, key wire.RKey, offset uint64) error {
	if err := p.Owns(key); err != nil {
		return err
	}
	switch {
	case key.Rights&need == 0:
		return fmt.Errorf("%w: the key allows %v, this needs %v", outcome.ErrAccess, key.Rights, need)
	case uint64(n) > key.Size || offset > key.Size-uint64(n):
		return fmt.Errorf("%w: bytes %d to %d of a region of %d", outcome.ErrAccess, offset, offset+uint64(n), key.Size)
	}
	return nil
}

// MaySignal is MayAccess of the word of a signal.
func (p *Peer) MaySignal(key wire.RKey, offset uint64) error {
	if p.NoSignal {
		return fmt.Errorf("%w: the peer does not know puts with a signal; fence, and put the word", wire.ErrVersion)
	}
	if offset&7 != 0 {
		return fmt.Errorf("%w: a signal is a word at a multiple of 8, not at %d", outcome.ErrAccess, offset)
	}
	if err := p.MayAccess(wire.Write, 8, key, offset); err != nil {
		return fmt.Errorf("signal: %w", err)
	}
	return nil
}

// MayChange is MayAccess of the word of an atomic operation.
func (p *Peer) MayChange(key wire.RKey, h wire.AtomicOp) error {
	if p.NoAtomic {
		return fmt.Errorf("%w: the peer does not know atomic operations", wire.ErrVersion)
	}
	if h.Offset%uint64(h.Size) != 0 {
		return fmt.Errorf("%w: a word of %d bytes stands at a multiple of that, not at %d", outcome.ErrAccess, h.Size, h.Offset)
	}
	return p.MayAccess(wire.Atomic, int(h.Size), key, h.Offset)
}

// MayMessage says why a message can't be sent, nil if it can.
func (p *Peer) MayMessage(id uint16, header, payload int) error {
	switch {
	case header > MaxHeader:
		return fmt.Errorf("%w: header of %d bytes, at most %d; the payload has more room", outcome.ErrLimit, header, MaxHeader)
	case uint64(payload) > p.MaxMessage:
		return fmt.Errorf("%w: message of %d bytes, the peer takes at most %d; put it into its memory instead, or raise its setting message", outcome.ErrLimit, payload, p.MaxMessage)
	case p.NoTag && family.OfTag(id):
		return fmt.Errorf("%w: the peer does not know tagged messages", wire.ErrVersion)
	case p.NoOffer && id == family.Offer:
		return fmt.Errorf("%w: the peer does not know offers of messages; send it whole", wire.ErrVersion)
	}
	return nil
}
