package wire

import "strconv"

// Caps are capabilities, a bit each.
type Caps uint32

const (
	// CapHandover: the peer can take over the operations of a lost lane. Without it an endpoint has at most ModePeer.
	CapHandover Caps = 1 << 0
	// CapRails: the side that dialed wants to be told when the other one's addresses change.
	CapRails Caps = 1 << 1
	// CapSignal: the peer knows PutSignal.
	CapSignal Caps = 1 << 2
	// CapAtomic: the peer knows AtomicOp.
	CapAtomic Caps = 1 << 3
	// CapTag: the peer knows tagged messages.
	CapTag Caps = 1 << 4
	// CapOffer: the peer knows offers of active messages.
	CapOffer Caps = 1 << 5
	// CapTagPut: the peer knows TagClear and TagPut.
	CapTagPut Caps = 1 << 6

	// KnownCaps are all that this code knows. An unknown required one is an error, an unknown optional one is not.
	KnownCaps = CapHandover | CapRails | CapSignal | CapAtomic | CapTag | CapOffer | CapTagPut
)

// Mode is the error mode of an endpoint.
type Mode uint8

const (
	ModeNone     Mode = 0 // no keepalive; a lost lane ends the endpoint
	ModePeer     Mode = 1 // keepalive; a lost lane ends the endpoint
	ModeFailover Mode = 2 // other lanes take over
)

func (m Mode) String() string {
	switch m {
	case ModeNone:
		return "none"
	case ModePeer:
		return "peer"
	case ModeFailover:
		return "failover"
	}
	return "mode(" + strconv.Itoa(int(m)) + ")"
}

// Hello opens a lane instance. Its sender posts nothing else on the lane until the answer: HelloAck, Busy, EPClosed or Reject.
type Hello struct {
	Required, Optional Caps

	Instance Instance
	// Incarnation and Endpoint are the sender's: of its process, never 0, and of this endpoint in it.
	Incarnation, Endpoint uint64
	// PeerIncarnation and PeerEndpoint are the receiver's as the sender knows them. On the first of an endpoint both are 0, or PeerEndpoint is a
	// worker's, see IsWorker: nobody else is meant.
	PeerIncarnation, PeerEndpoint uint64
	// Nonce comes back in the answer: only the echo of one's own nonce proves anything about the peer.
	Nonce [16]byte

	Mode         Mode
	MaxFrame     uint32    // bytes of head and payload together that the sender accepts
	MaxMessage   uint64    // bytes of a message that the sender accepts
	Backlog      uint64    // bytes of messages, by MessageCost, that the sender accepts before it has handled them
	ReplyCredits uint32    // replies for which the sender has reserved room
	Join         JoinProof // zero on the first of an endpoint

	Keepalive, PeerTimeout uint32 // milliseconds
	Name                   string // label for logs, see ValidName; AppendTo makes any text valid
}

// workerBit is set in the name of a worker, and in no endpoint's.
const workerBit = 1 << 63

// Worker is a worker's name, made of random bits. IsWorker says that a Hello that has it for PeerEndpoint is the first of an endpoint.
func Worker(random uint64) (name uint64) { return random | workerBit }
func IsWorker(name uint64) bool          { return name&workerBit != 0 }

// HelloAck accepts a Hello: the lane instance is up.
type HelloAck struct {
	Required, Optional Caps

	Instance              Instance
	Incarnation, Endpoint uint64   // the acceptor's
	Nonce                 [16]byte // echo

	Mode         Mode // what the endpoint gets
	MaxFrame     uint32
	MaxMessage   uint64
	Backlog      uint64
	ReplyCredits uint32
	JoinKey      JoinKey // secret for the lanes to come; zero if this isn't the first, or both sides make it of theirs

	Join  JoinProof // zero on the first of an endpoint
	Addrs []string  // where further lanes can be dialed, at most MaxAddrs, see ValidAddr; AppendTo leaves others out
	Name  string
}

// AppendTo appends the message to b.
func (m Hello) AppendTo(b []byte) []byte {
	g := greeting{h: m}
	return g.appendTo(b, &helloShape)
}

// AppendTo appends the message to b.
func (m HelloAck) AppendTo(b []byte) []byte {
	g := greeting{key: m.JoinKey, addrs: m.Addrs, h: Hello{
		Required: m.Required, Optional: m.Optional,
		Instance: m.Instance, Incarnation: m.Incarnation, Endpoint: m.Endpoint, Nonce: m.Nonce,
		Mode: m.Mode, MaxFrame: m.MaxFrame, MaxMessage: m.MaxMessage, Backlog: m.Backlog, ReplyCredits: m.ReplyCredits,
		Join: m.Join, Name: m.Name,
	}}
	return g.appendTo(b, &helloAckShape)
}

// DecodeHello reads a Hello.
//
// Errors: *UnsupportedError, *FormatError.
func DecodeHello(b []byte) (Hello, error) {
	var g greeting
	if err := g.decode(b, &helloShape); err != nil {
		return Hello{}, err
	}
	return g.h, nil
}

// DecodeHelloAck reads a HelloAck.
//
// Errors: *UnsupportedError, *FormatError.
func DecodeHelloAck(b []byte) (HelloAck, error) {
	var g greeting
	if err := g.decode(b, &helloAckShape); err != nil {
		return HelloAck{}, err
	}
	h := &g.h
	return HelloAck{
		Required: h.Required, Optional: h.Optional,
		Instance: h.Instance, Incarnation: h.Incarnation, Endpoint: h.Endpoint, Nonce: h.Nonce,
		Mode: h.Mode, MaxFrame: h.MaxFrame, MaxMessage: h.MaxMessage, Backlog: h.Backlog, ReplyCredits: h.ReplyCredits,
		JoinKey: g.key, Join: h.Join, Addrs: g.addrs, Name: h.Name,
	}, nil
}
