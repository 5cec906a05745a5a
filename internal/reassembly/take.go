package reassembly

import (
	"fmt"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Take takes a frame of a message of several, and returns the message once it is whole. The error says that the peer can't have sent it.
func (t *Table) Take(in *transport.Incoming) (*Message, error) {
	switch in.ID {
	case wire.IDAMFirst:
		h, err := wire.DecodeAMFirst(in.Head)
		if err != nil {
			return nil, err
		}
		if _, err := t.Begin(h.Msg, h.ID, h.Header, h.Total); err != nil {
			return nil, fmt.Errorf("message %d of %d bytes: %w", h.Msg, h.Total, err)
		}
		return t.fill(h.Msg, 0, in)
	case wire.IDAMFrag:
		h, err := wire.DecodeAMFrag(in.Head)
		if err != nil {
			return nil, err
		}
		return t.fill(h.Msg, h.Offset, in)
	case wire.IDAMPart:
		h, err := wire.DecodeAMPart(in.Head)
		if err != nil {
			return nil, err
		}
		if err := t.Part(h.Msg, h.Total); err != nil {
			return nil, fmt.Errorf("message %d of %d bytes: %w", h.Msg, h.Total, err)
		}
		return t.fill(h.Msg, h.Offset, in)
	}
	h, err := wire.DecodeAMLast(in.Head)
	if err != nil {
		return nil, err
	}
	m, err := t.Close(h.Msg, h.ID, h.Header, h.Total)
	if err != nil {
		return nil, fmt.Errorf("message %d is closed: %w", h.Msg, err)
	}
	return m, nil
}

// fill puts a payload where it belongs, unless it was placed there.
func (t *Table) fill(msg, offset uint64, in *transport.Incoming) (*Message, error) {
	n := uint64(len(in.Payload))
	if !in.Placed {
		room, err := t.Room(msg, offset, n)
		if err != nil {
			return nil, fmt.Errorf("message %d, offset %d: %w", msg, offset, err)
		}
		copy(room, in.Payload)
	}
	m, err := t.Filled(msg, offset, n)
	if err != nil {
		return nil, fmt.Errorf("message %d, offset %d: %w", msg, offset, err)
	}
	return m, nil
}
