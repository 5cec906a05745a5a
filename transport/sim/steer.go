package sim

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/openbraid/braid/transport"
)

// Arrival is something that can happen next in a steered network.
type Arrival struct {
	Host  string // where it arrives
	Local string // the address of the connection's end there
	End   uint32 // the number of that end
	Error bool   // the news that the connection is cut, which comes before what is still in flight, or after it
	ep    *endpoint
}

// Arrivals are all that can happen next: one for each direction that has something in flight, and one for each end that can be
// told that it is cut; in the order in which connections were made. Only the oldest thing of a direction can arrive.
func (n *Net) Arrivals() (as []Arrival) {
	for _, ep := range n.endpoints {
		if ep.life != up && ep.life != lost && ep.life != quiesced {
			continue
		}
		a := Arrival{Host: ep.iface.host.name, Local: ep.local, End: ep.id, ep: ep}
		if ep.peer != nil && ep.peer.out.unseen() != nil && !ep.deaf {
			as = append(as, a)
		}
		if ep.failAt == never && ep.life == up {
			a.Error = true
			as = append(as, a)
		}
	}
	return as
}

// Let lets it happen: the next Progress of that host sees it.
func (n *Net) Let(a Arrival) {
	if a.Error {
		a.ep.failAt = n.now
		return
	}
	it := a.ep.peer.out.unseen()
	it.first, it.last = n.now, n.now
}

// unseen is the oldest item that has not arrived, nil if there is none.
func (p *pipe) unseen() *item {
	for i := p.head; i < p.tail; i++ {
		if it := &p.ring[i&uint64(len(p.ring)-1)]; it.first == never {
			return it
		}
	}
	return nil
}

// BreakLocal breaks the connection of which one end has this address, or one direction of it as seen from there.
func (n *Net) BreakLocal(local string, k Kind, d Dir) {
	for _, ep := range n.endpoints {
		if ep.local == local {
			n.Break(ep, k, d)
			return
		}
	}
}

// End is what one end of a connection is to a driver: what can arrive there, and what would become of what is sent. Everything
// else that decides how its owner goes on is the owner's own.
type End struct {
	Host, Local  string
	ID, Peer     uint32 // Peer 0: there is none yet
	Life         uint8  // up, lost and quiesced in this order; 0 and 1 are before them
	Deaf         bool
	Broken, Mute bool     // what it sends is dropped; not even the end of the connection is told
	Told         string   // the news that waits to be told, "" none
	In           []uint64 // a digest of each thing in flight towards it, the oldest first
}

// What a driver has to know of an End's life and news.
const (
	ToldHungUp = "the peer hung up"
	ToldCut    = "it was cut"

	EndUp       = uint8(up)
	EndQuiesced = uint8(quiesced)
)

var digests = maphash.MakeSeed()

// Ends are those that are not closed, in the order in which they were made.
func (n *Net) Ends() []End {
	ends := make([]End, 0, len(n.endpoints))
	for _, ep := range n.endpoints {
		e := End{Host: ep.iface.host.name, Local: ep.local, ID: ep.id, Life: uint8(ep.life), Deaf: ep.deaf, Broken: ep.out.broken, Mute: ep.out.silent}
		switch {
		case ep.failAt == 0:
		case ep.failAt != never:
			e.Told = ep.failErr.Error() + ep.failAt.String() // by itself, when it is time
		case errors.Is(ep.failErr, transport.ErrPeerClosed):
			e.Told = ToldHungUp
		case errors.Is(ep.failErr, errCut):
			e.Told = ToldCut
		default:
			e.Told = ep.failErr.Error()
		}
		if ep.peer != nil {
			e.Peer = ep.peer.id
			for i := ep.peer.out.head; i < ep.peer.out.tail; i++ {
				e.In = append(e.In, ep.peer.out.ring[i&uint64(len(ep.peer.out.ring)-1)].digest())
			}
		}
		ends = append(ends, e)
	}
	return ends
}

// digest is one number for all that decides what an item does where it arrives.
func (it *item) digest() uint64 {
	var h maphash.Hash
	h.SetSeed(digests)
	b := []byte{byte(it.kind), it.id, 0, byte(it.head), byte(it.head >> 8)}
	if it.ackNow {
		b[2] = 1
	}
	if it.first != never {
		b[2] |= 2
	}
	b = binary.LittleEndian.AppendUint64(b, it.index)
	b = binary.LittleEndian.AppendUint64(b, it.ack)
	h.Write(b)
	if it.buf != nil {
		h.Write(it.buf.Bytes[:it.size])
	}
	return h.Sum64()
}

// Due is a time at which something may happen by itself.
type Due struct {
	At   time.Duration
	Kind uint8
	End  uint32 // 0: of nobody's end
}

// The kinds of Due that nobody but the owners of ends can notice.
const (
	DueWake = uint8(wake)
	DueCall = uint8(call)
)

// Dues are these, sorted, each once.
func (n *Net) Dues() []Due {
	ds := make([]Due, 0, len(n.events))
	for i := range n.events {
		e := &n.events[i]
		if e.stale() {
			continue
		}
		d := Due{At: e.at, Kind: uint8(e.kind)}
		if e.ep != nil {
			d.End = e.ep.id
		}
		ds = append(ds, d)
	}
	slices.SortFunc(ds, Due.Compare)
	return slices.Compact(ds)
}

// Compare puts them in order.
func (d Due) Compare(o Due) int {
	return cmp.Or(cmp.Compare(d.At, o.At), cmp.Compare(d.Kind, o.Kind), cmp.Compare(d.End, o.End))
}

// Made counts the ends and addresses that were ever made.
func (n *Net) Made() uint64 { return uint64(n.ids)<<32 | uint64(n.port) }
