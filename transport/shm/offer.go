//go:build linux

package shm

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/loan"
	"github.com/openbraid/braid/transport/shm/ring"
)

// A frame may leave its payload where it stands, for the peer to read: then its slot has no piece of it, but
//
//	| where 64 | size 32  memory 32 | head, up to 32 bytes |
//
// Where is an address, or, with the highest bit, an offset in memory that the peer has borrowed.
//
// The first word may change until the frame is acknowledged: when its owner wants the memory back a copy takes its place, and 0 when the connection is given up. So who reads
// looks once more when he has read.
const (
	awayLen  = 16
	awayHead = ring.Inline - awayLen
	inMemory = 1 << 63
)

// offers says whether the next data frame goes that way.
func (ep *endpoint) offers(e *ledger.Entry) bool {
	o := &ep.send
	return o.large.IsOpen() && e.ZeroCopy && len(e.Payload) >= cma.Least && len(e.Head) <= awayHead && o.large.Begin(o.sent, e.Size, cma.Foreign, ep.f.env.Now)
}

// direct says where its payload stands in memory that the peer has mapped.
func (ep *endpoint) direct(e *ledger.Entry) (p loan.Place, ok bool) {
	if !e.ZeroCopy || len(e.Head) > awayHead || ep.f.o.AnyUser || ep.fault != Sound || ep.send.large.Closed() {
		return p, false
	}
	p, ok, tell := ep.lent.Source(ep.f.desk, e.Payload)
	if ok {
		ok = ep.send.large.Begin(ep.send.sent, e.Size, cma.Mapped, ep.f.env.Now)
	}
	if tell {
		key := loan.NumberKey(p.Number)
		ep.queue(own(flagReads, key[:]), nil, key[:])
	}
	return p, ok
}

// writeDirect and writeOffer put it into the ring; false: there is no room.
func (ep *endpoint) writeDirect(e *ledger.Entry, p loan.Place) bool {
	slot := ep.out.Next()
	if !ep.writeAway(e, inMemory|p.Offset, p.Number) {
		return false
	}
	ep.send.large.Offered(slot)
	return true
}

func (ep *endpoint) writeOffer(e *ledger.Entry) bool {
	slot := ep.out.Next()
	if !ep.writeAway(e, cma.Address(e.Payload), 0) {
		return false
	}
	ep.send.large.Offered(slot)
	return true
}

func (ep *endpoint) writeAway(e *ledger.Entry, where uint64, memory uint32) bool {
	h := ring.Header{ID: e.ID, Flags: flagAway, Head: uint16(len(e.Head)), Size: uint32(awayLen + len(e.Head)), Ack: uint32(ep.recv.accepted)}
	if e.AckNow {
		h.Flags |= flagAckNow
	}
	dst, ok := ep.reserve(h.Len())
	if !ok {
		return false
	}
	binary.LittleEndian.PutUint64(dst, where)
	binary.LittleEndian.PutUint32(dst[8:], uint32(len(e.Payload)))
	binary.LittleEndian.PutUint32(dst[12:], memory)
	copy(dst[awayLen:], e.Head)
	ep.publish(h)
	return true
}

// Detach implements transport.Endpoint. What waits to be written is looked up in the books, so it follows.
func (ep *endpoint) Detach(match func(transport.Completer) bool) {
	if ep.led.Detach(match) && ep.out != nil {
		for index, slot := range ep.send.large.Offers {
			ep.out.Amend(slot, cma.Address(ep.led.At(index).Payload))
		}
	}
}

// withdraw ends the offers, before their memory is given back: who has read one and looks once more knows that it is worth nothing.
func (ep *endpoint) withdraw() {
	for _, slot := range ep.send.large.Offers {
		if ep.out != nil {
			ep.out.Amend(slot, 0)
		}
	}
	ep.send.large.Close()
}

// reads takes that the peer can read what stands here, or that he sends from memory that he lends, or that it can't any more and has taken what is before a position: then the frames from there on go once more, through
// the ring.
//
// Errors: transport.ErrProtocol.
func (ep *endpoint) reads(what []byte) error {
	o := &ep.send
	switch len(what) {
	case 0:
		if ep.f.o.Read != cma.Never {
			o.large.Open(ep.f.o.Read)
		}
		return nil
	case len(transport.MemKey{}):
		if key := transport.MemKey(what); !ep.f.o.AnyUser && ep.fault == Sound && ep.borrowed.AskSent(key) {
			ep.f.turn.expected++
			ep.sayOwn(flagAsk, what)
		}
		return nil
	}
	position := binary.LittleEndian.Uint64(what)
	if o.large.Closed() || position < max(ep.led.Acked(), o.letGo) || position > o.sent {
		return fmt.Errorf("%w: %w: the peer does not read from frame %d on", transport.ErrProtocol, transport.ErrPosition, position)
	}
	o.large.Close()
	o.sent, o.begun = position, 0
	ep.sayOwn(flagResume, nil)
	return nil
}
