package carrier

import (
	"net/netip"
	"time"

	"github.com/openbraid/braid/rdma"
)

// Route is the resolved way to a peer.
type Route struct {
	To  netip.AddrPort
	MAC rdma.MAC // zero where the system finds the neighbour
	// From is the port that datagrams leave from; 0: the carrier's own.
	From uint16
	// TrafficClass and HopLimit as in rdma.AHAttr; a carrier that can't set them for each datagram doesn't.
	TrafficClass, HopLimit uint8
}

// Out is a datagram to be sent: headers, payload, pad, and room for the ICRC.
type Out struct {
	Route *Route
	Data  []byte
}

// In is a datagram that arrived, ICRC included and not checked.
type In struct {
	From netip.AddrPort
	Data []byte
	ID   uint16 // what its IPv4 identification probably is; 0 if there is no reason to think of another
}

// EventType is what a carrier noticed by itself.
type EventType uint8

// The events of a carrier.
const (
	Up        EventType = iota // the link came back
	Down                       // the link is gone
	Neighbour                  // Event.Addr has another MAC than before
)

// Event is something that a carrier noticed by itself.
type Event struct {
	Type EventType
	Addr netip.Addr
}

// Carrier moves datagrams from one address and port to others.
type Carrier interface {
	// Local is where it takes datagrams.
	Local() netip.AddrPort
	// LinkBytes is the largest IP packet that the link carries.
	LinkBytes() int
	MAC() rdma.MAC
	// BufferBytes is how much may wait to be received, as the system granted it; 0 if it can't be said.
	BufferBytes() int

	// Resolve finds the way to an address, afresh: rdma.ErrUnreachable if there is none. The flow label chooses among Sources.
	Resolve(to netip.AddrPort, flow uint32) (Route, error)
	// Sources are further ports to send from, so that networks of several paths see different flows; nil: only the own one. That of
	// a flow label is rdma.PortAttr.Source.
	Sources() []uint16

	// Send seals and sends datagrams in order and returns how many it took; fewer than all: no room now. A datagram that
	// can't be sent is taken, and lost. The caller may use the memory again at return.
	Send(batch []Out) int
	// Recv fills batch with datagrams that have arrived, and returns how many.
	Recv(batch []In) int

	// MaxID is the largest IPv4 identification with which a carrier of this kind sends; see packet.Flow.Check.
	MaxID() uint16
	// Event takes one event.
	Event() (Event, bool)
	// FD polls readable when Recv has something; -1: there is none.
	FD() int
	// Deadline is when Recv may have something that has no descriptor; 0: never.
	Deadline() time.Duration
	Close() error
}
