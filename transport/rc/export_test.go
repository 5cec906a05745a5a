package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/window"
	"github.com/openbraid/braid/transport/rc/wire"
)

// Numbers are the queue pairs of an endpoint and of its peer.
func Numbers(ep transport.Endpoint) (own, peer uint32) {
	e := ep.(*endpoint)
	if e.qp == nil {
		return 0, e.call.peer
	}
	return e.qp.Num(), e.call.peer
}

// State is that of an endpoint's queue pair.
func State(ep transport.Endpoint) rdma.QPState { return ep.(*endpoint).qp.State() }

// Conn is the name of a connection.
func Conn(ep transport.Endpoint) uint64 { return ep.(*endpoint).call.conn }

// StartAt has the indices of new send rings, and packet numbers, begin there.
func StartAt(o Options, at uint16, psn uint32) Options {
	o.startAt, o.startPSN = at, psn
	return o
}

// SendRaw sends bytes as a segment, whatever they are.
func SendRaw(e transport.Endpoint, raw []byte) {
	ep := e.(*endpoint)
	if !ep.maySend(0) {
		panic("rc: no room for raw bytes")
	}
	b, err := ep.p.mem.Get(max(1, len(raw)))
	if err != nil {
		panic(err)
	}
	copy(b.Bytes, raw)
	wr := [1]rdma.SendWR{{Op: rdma.OpSend, Flags: rdma.FlagSignaled, SGL: []rdma.SGE{b.SGE(0, len(raw))}}}
	ep.flow.sent++
	wr[0].ID = ep.id(ep.ring.Post(ep.qp.Blocks(&wr[0]), ep.out.Sent, true, b.Buffer))
	ep.qp.PostSend(wr[:])
	b.Release()
}

// SendAck sends a segment with nothing in it, which acknowledges n frames.
func SendAck(e transport.Endpoint, n uint64) {
	ep := e.(*endpoint)
	raw := make([]byte, wire.SegmentLen)
	wire.Segment{Kind: wire.Nothing, Granted: ep.flow.posted, Ack: n}.Emit(raw)
	SendRaw(e, raw)
}

// Say sends a message about a connection, in which something may be wrong, from an endpoint to its peer.
func Say(e transport.Endpoint, v wire.Verb, change func(*wire.Message)) {
	ep := e.(*endpoint)
	m := ep.call.message(v)
	change(&m)
	ep.p.tell(ep.call.to, &m)
}

// SpoofLeave says from another interface's first port that a connection has ended, and knows all of it.
func SpoofLeave(from transport.Iface, e transport.Endpoint) {
	ep := e.(*endpoint)
	m := ep.call.message(wire.Leave)
	from.(*iface).ports[0].tell(ep.call.to, &m)
}

// HalfOpen is how many connections are asked for and not established.
func HalfOpen(i transport.Iface) (n int) {
	for _, p := range i.(*iface).ports {
		n += p.halfOpen
	}
	return n
}

// UnderWay is how many work requests have not ended in the books.
func UnderWay(ep transport.Endpoint) int { return ep.(*endpoint).ring.Len() }

// CompleteAgain has a send complete that has completed before, and returns how many such were noticed.
func CompleteAgain(e transport.Endpoint) int {
	ep := e.(*endpoint)
	free := ep.p.credits.Free
	ep.sendEnded(&rdma.WC{ID: ep.id(0)})
	n := ep.ring.Late
	if ep.ring.Late = 0; ep.p.credits.Free != free {
		return -1
	}
	return n
}

// Devices are the open devices of an interface.
func Devices(i transport.Iface) (list []rdma.Device) {
	for _, p := range i.(*iface).ports {
		list = append(list, p.dev)
	}
	return list
}

// Check says which invariant of the books does not hold; "" is none.
func Check(i transport.Iface) string {
	for _, p := range i.(*iface).ports {
		under, reading := 0, 0
		for _, ep := range p.eps {
			if ep == nil {
				continue
			}
			r := &ep.ring
			under += r.Len()
			reading += r.Reading()
			switch {
			case r.Wrong() != "":
				return "ring: " + r.Wrong()
			case ep.state == up && ep.flow.posted-ep.flow.taken != uint32(len(ep.recvs)-len(ep.spent)-ep.reads.kept()):
				return fmt.Sprintf("granted %d receives, %d were used, posted are %d", ep.flow.posted, ep.flow.taken, len(ep.recvs)-len(ep.spent)-ep.reads.kept())
			case ep.flow.left() < 0:
				return fmt.Sprintf("sent %d segments, granted are %d", ep.flow.sent, ep.flow.limit)
			case ep.state > up && !r.Frozen && ep.state != closed:
				return fmt.Sprintf("%v, and its ring is not frozen", ep.state)
			case ep.state > up && (!ep.out.Empty() || ep.out.Asking || ep.reads.inLine || ep.owes()):
				return fmt.Sprintf("%v, and it has something to say (R8)", ep.state)
			}
		}
		if r := &p.reads; r.Free < 0 || r.Free+r.Done+reading != r.Limit {
			return fmt.Sprintf("reads: %d bytes free, %d done, %d under way, of %d", r.Free, r.Done, reading, r.Limit)
		}
		if c := &p.credits; c.Free < 0 || c.Free+c.Kept+under != c.Depth {
			return fmt.Sprintf("send queue: %d free, %d kept, %d under way, of %d", c.Free, c.Kept, under, c.Depth)
		}
	}
	return ""
}

// Room is how many places of the send queue, and how many bytes that may be read, an interface's first port has, and whether that is all that there ever are.
func Room(i transport.Iface) (places, bytes int, all bool) {
	p := i.(*iface).ports[0]
	return p.credits.Free, p.reads.Free, p.credits.Free == p.credits.Depth && p.reads.Free == p.reads.Limit
}

// InLine is how many endpoints wait for a place in the send queue, and how many for bytes that they may read.
func InLine(i transport.Iface) (places, reads int) {
	for _, p := range i.(*iface).ports {
		places, reads = places+len(p.line), reads+len(p.readers)
	}
	return places, reads
}

// Waits says who waits for what: for tests whose time is over.
func Waits(i transport.Iface) (s string) {
	for _, p := range i.(*iface).ports {
		s += fmt.Sprintf("port %v: keys %v, places %+v, %d in line; reads %+v, %d in line\n", p.addr, p.keys.Life(), p.credits, len(p.line), p.reads, len(p.readers))
		for _, ep := range p.eps {
			if ep == nil {
				continue
			}
			control, data := ep.out.Waiting()
			s += fmt.Sprintf("  %v to %s: %+v; %d work requests under way, %d and %d bytes wait; segments %+v; %d offers wait; room is owed %v, said %d times\n",
				ep.state, ep.remote, ep.Counts(), ep.ring.Len(), control, data, ep.flow, len(ep.reads.waiting), ep.starved, ep.call.times)
		}
	}
	return s
}

// Leak is what an interface whose endpoints are closed, and which has had its turns, has not given back; "" is nothing.
func Leak(i transport.Iface) string {
	f := i.(*iface)
	if _, owes := f.owing.Next(); f.timers.Next() != 0 || owes {
		return "a timer"
	}
	for _, p := range f.ports {
		for _, ep := range p.eps {
			if ep != nil {
				return fmt.Sprintf("an endpoint, %v", ep.state)
			}
		}
		switch {
		case p.reads.Free != p.reads.Limit || len(p.readers) != 0:
			return fmt.Sprintf("bytes that may be read: %+v, %d in line", p.reads, len(p.readers))
		case p.credits.Free != p.credits.Depth:
			return fmt.Sprintf("places of the send queue: %+v", p.credits)
		case p.halfOpen != 0 || p.farewells.Len() != 0 || p.mail.Handles() != 0 || len(p.line) != 0:
			return fmt.Sprintf("%d half open, %d farewells, %d handles, %d in line", p.halfOpen, p.farewells.Len(), p.mail.Handles(), len(p.line))
		case p.mem.Idle()+1 != p.mem.All:
			return fmt.Sprintf("%d blocks of queue.Memory, of %d", p.mem.All-p.mem.Idle()-1, p.mem.All)
		}
		for _, b := range p.recvs.All {
			if b.Free != b.Depth {
				return fmt.Sprintf("places of a receive queue: %+v", b.Credits)
			}
		}
	}
	return ""
}

// kept is how many receives wait for what is read.
func (r *reading) kept() (n int) {
	for _, it := range r.waiting {
		if !it.begun {
			n++
		}
	}
	return n
}

// Left is how many segments the peer has room for.
func Left(e transport.Endpoint) int32 { return e.(*endpoint).flow.left() }

// WasRead is how many payloads an endpoint has read.
func WasRead(e transport.Endpoint) int { return e.(*endpoint).reads.done }

// Reading is how many bytes an endpoint is reading.
func Reading(e transport.Endpoint) int { return e.(*endpoint).ring.Reading() }

// Offer is a payload that a peer may read.
type Offer struct {
	Addr  uint64
	RKey  uint32
	Plain bool
}

// Offers are those of an endpoint.
func Offers(e transport.Endpoint) (list []Offer) {
	e.(*endpoint).out.Offers(func(k *window.Key) { list = append(list, Offer{k.Addr, k.RKey, k.Plain()}) })
	return list
}

// ReadRaw reads 100 bytes of what was offered to somebody.
func ReadRaw(e transport.Endpoint, o Offer) []byte {
	ep := e.(*endpoint)
	b, err := ep.p.mem.Get(100)
	if err != nil || !ep.place() {
		panic("rc: no room for a READ")
	}
	wr := [1]rdma.SendWR{{Op: rdma.OpRead, Flags: rdma.FlagSignaled, SGL: []rdma.SGE{b.SGE(0, 100)}, RKey: o.RKey, Addr: o.Addr}}
	wr[0].ID = ep.id(ep.ring.Post(ep.qp.Blocks(&wr[0]), ep.out.Sent, true, b.Buffer))
	ep.qp.PostSend(wr[:])
	b.Release()
	return b.Bytes[:100]
}

// RawOffer is an offer of a frame of size bytes with such a head, with a key that opens nothing.
func RawOffer(size, head int) []byte {
	b := make([]byte, wire.SegmentLen+wire.OfferLen+wire.HeaderLen+head)
	wire.Segment{Kind: wire.Offers, Granted: wire.MinReceives + 28}.Emit(b)
	wire.Offer{Addr: 4096, RKey: 77}.Emit(b[wire.SegmentLen:])
	wire.Header{Size: uint32(size), ID: 1, Head: uint16(head)}.Emit(b[wire.SegmentLen+wire.OfferLen:])
	return b
}

// RawFrames is a segment of empty frames with a number for a head, control frames or not.
func RawFrames(control ...bool) []byte {
	const one = wire.HeaderLen + 8
	b := make([]byte, wire.SegmentLen+one*len(control))
	wire.Segment{Kind: wire.Frames, Granted: wire.MinReceives + 28}.Emit(b)
	for i, c := range control {
		h := wire.Header{Size: 8, ID: 1, Head: 8}
		if c {
			h.Flags = wire.FlagControl
		}
		h.Emit(b[wire.SegmentLen+one*i:])
	}
	return b
}

// Happened has an interface's first port take an event.
func Happened(i transport.Iface, e rdma.Event) { i.(*iface).ports[0].happened(&e) }

// Handles is how many addresses an interface's first port has resolved for datagrams at the moment.
func Handles(i transport.Iface) int { return i.(*iface).ports[0].mail.Handles() }

// Break has the connection end as if the device had said so.
func Break(e transport.Endpoint) { e.(*endpoint).fail("test", errPortDown) }
