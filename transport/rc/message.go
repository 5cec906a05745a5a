package rc

import (
	"encoding/binary"

	"github.com/openbraid/braid/rdma"
)

// What two ports tell each other by datagrams, to make and to end connections. Little-endian, 40 bytes:
//
//	 0       4      5        6     7       8            16            20              24      28         32             36
//	| magic | kind | reason | mtu | dialer | connection | queue pair | packet number | yours | receives | segment bytes | 0 |
//
// Source: the messages REQ, REP, RTU, REJ, DREQ and DREP of the InfiniBand communication manager.
const (
	magic      = 0x31637262 // "brc1"
	messageLen = 40
)

// verb is what a message says.
type verb uint8

const (
	request verb = iota + 1 // the dialer's: here is my queue pair
	reply                   // the acceptor's: here is mine
	ready                   // the dialer has the reply
	reject                  // no connection, for this reason
	leave                   // the connection has ended here
	left                    // and here
	verbs
)

// reasons of a reject.
const (
	reasonNobody uint8 = iota + 1
	reasonFull
	reasonTerms
)

// message is a datagram.
type message struct {
	verb     verb
	reason   uint8
	mtu      rdma.MTU
	dialer   bool   // who sends it dialed the connection
	conn     uint64 // its name, chosen by the dialer
	qpn, psn uint32 // the sender's, and of its first packet
	yours    uint32 // the peer's queue pair as the sender knows it; 0: it doesn't
	receives uint32 // that are posted
	segment  uint32 // bytes of each
}

func (m *message) emit(b []byte) {
	_ = b[messageLen-1]
	le := binary.LittleEndian
	le.PutUint32(b, magic)
	b[4], b[5], b[6], b[7] = uint8(m.verb), m.reason, uint8(m.mtu), 0
	if m.dialer {
		b[7] = 1
	}
	le.PutUint64(b[8:], m.conn)
	le.PutUint32(b[16:], m.qpn)
	le.PutUint32(b[20:], m.psn)
	le.PutUint32(b[24:], m.yours)
	le.PutUint32(b[28:], m.receives)
	le.PutUint32(b[32:], m.segment)
	le.PutUint32(b[36:], 0)
}

// parseMessage reads a datagram; false: it is none of these.
func parseMessage(b []byte) (m message, ok bool) {
	if len(b) != messageLen {
		return m, false
	}
	le := binary.LittleEndian
	m = message{
		verb: verb(b[4]), reason: b[5], mtu: rdma.MTU(b[6]), dialer: b[7] == 1, conn: le.Uint64(b[8:]),
		qpn: le.Uint32(b[16:]), psn: le.Uint32(b[20:]), yours: le.Uint32(b[24:]),
		receives: le.Uint32(b[28:]), segment: le.Uint32(b[32:]),
	}
	ok = le.Uint32(b) == magic && m.verb > 0 && m.verb < verbs && b[7] <= 1 && m.qpn <= rdma.MaxNum && m.psn <= rdma.MaxNum &&
		m.yours <= rdma.MaxNum && le.Uint32(b[36:]) == 0
	if m.verb == request || m.verb == reply {
		ok = ok && m.mtu.Bytes() > 0 && m.qpn > 1 && m.receives >= narrowReceives && m.receives <= 1<<16 &&
			m.segment >= 8<<10 && m.segment <= 1<<30
	}
	return m, ok
}
