package wire

import (
	"encoding/binary"

	"github.com/openbraid/braid/rdma"
)

// What two ports tell each other by datagrams, to make and to end connections. Little-endian, 44 bytes:
//
//	 0       4      5        6     7        8            16           20              24      28         32              36          38      39  40       42
//	| magic | kind | reason | mtu | dialer | connection | queue pair | packet number | yours | receives | segment bytes | read from | reads | 0 | source | port |
//
// Source: the messages REQ, REP, RTU, REJ, DREQ and DREP of the InfiniBand communication manager.
const (
	magic = 0x31637262 // "brc1"
	// MessageLen is how long each one is.
	MessageLen = 44

	// MinReceives and MinSegment are what every peer has room for from the beginning.
	MinReceives = 4
	MinSegment  = 8 << 10
	// ReadUnit is what Message.ReadFrom is counted in, MostReadFrom the largest.
	ReadUnit     = 1 << 10
	MostReadFrom = 0xffff * ReadUnit
)

// Verb is what a message says.
type Verb uint8

const (
	Request Verb = iota + 1 // the dialer's: here is my queue pair
	Reply                   // the acceptor's: here is mine
	Ready                   // the dialer has the reply
	Reject                  // no connection, for this reason
	Leave                   // the connection has ended here
	Left                    // and here
	Verbs
)

// Reasons of a Reject.
const (
	ReasonNobody uint8 = iota + 1
	ReasonFull
	ReasonTerms
)

// Message is a datagram.
type Message struct {
	Verb     Verb
	Reason   uint8
	MTU      rdma.MTU
	Dialer   bool   // who sends it dialed the connection
	Conn     uint64 // its name, chosen by the dialer
	QPN, PSN uint32 // the sender's, and of its first packet
	Yours    uint32 // the peer's queue pair as the sender knows it; 0: it doesn't
	Receives uint32 // that are posted
	Segment  uint32 // bytes of each
	ReadFrom uint32 // payloads from so many bytes on may be offered, instead of being sent: a multiple of ReadUnit; 0: none
	Reads    uint8  // that the sender answers at a time
	Source   uint16 // the UDP port that the sender's packets of the connection come from; 0: that, or any if it is the standard's
	Port     uint16 // the UDP port of the sender's queue pair; 0: that of this datagram
}

// Emit writes it.
func (m *Message) Emit(b []byte) {
	_ = b[MessageLen-1]
	le := binary.LittleEndian
	le.PutUint32(b, magic)
	b[4], b[5], b[6], b[7] = uint8(m.Verb), m.Reason, uint8(m.MTU), 0
	if m.Dialer {
		b[7] = 1
	}
	le.PutUint64(b[8:], m.Conn)
	le.PutUint32(b[16:], m.QPN)
	le.PutUint32(b[20:], m.PSN)
	le.PutUint32(b[24:], m.Yours)
	le.PutUint32(b[28:], m.Receives)
	le.PutUint32(b[32:], m.Segment)
	le.PutUint16(b[36:], uint16(m.ReadFrom/ReadUnit))
	b[38], b[39] = m.Reads, 0
	le.PutUint16(b[40:], m.Source)
	le.PutUint16(b[42:], m.Port)
}

// ParseMessage reads a datagram; false: it is none of these.
func ParseMessage(b []byte) (m Message, ok bool) {
	if len(b) != MessageLen {
		return m, false
	}
	le := binary.LittleEndian
	m = Message{
		Verb: Verb(b[4]), Reason: b[5], MTU: rdma.MTU(b[6]), Dialer: b[7] == 1, Conn: le.Uint64(b[8:]),
		QPN: le.Uint32(b[16:]), PSN: le.Uint32(b[20:]), Yours: le.Uint32(b[24:]),
		Receives: le.Uint32(b[28:]), Segment: le.Uint32(b[32:]),
		ReadFrom: uint32(le.Uint16(b[36:])) * ReadUnit, Reads: b[38], Source: le.Uint16(b[40:]), Port: le.Uint16(b[42:]),
	}
	ok = le.Uint32(b) == magic && m.Verb > 0 && m.Verb < Verbs && b[7] <= 1 && m.QPN <= rdma.MaxNum && m.PSN <= rdma.MaxNum &&
		m.Yours <= rdma.MaxNum && b[39] == 0
	if m.Verb == Request || m.Verb == Reply {
		ok = ok && m.MTU.Bytes() > 0 && m.QPN > 1 && m.Receives >= MinReceives && m.Receives <= 1<<16 &&
			m.Segment >= MinSegment && m.Segment <= 1<<30
	}
	return m, ok
}
