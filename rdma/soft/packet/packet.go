package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	bthLen  = 12
	icrcLen = 4

	// MaxHeader is the most that stands before a payload, MaxOverhead with pad and ICRC.
	MaxHeader   = bthLen + 28
	MaxOverhead = MaxHeader + 3 + icrcLen
	// MaxNum is the largest 24-bit number.
	MaxNum = 1<<24 - 1
	// DefaultPKey is the default partition, full member.
	DefaultPKey = 0xffff
)

// Packet is a RoCEv2 packet as it is meant. Only the fields that its opcode has are written, and set by Parse.
type Packet struct {
	Opcode    Opcode
	Solicited bool
	Migrated  bool // the path migration bit: set by who doesn't use alternate paths
	AckReq    bool
	PKey      uint16
	DestQP    uint32
	PSN       uint32

	VA   uint64 // RETH, AtomicETH
	RKey uint32 // RETH, AtomicETH
	Len  uint32 // RETH

	Swap    uint64 // AtomicETH: what to set, or to add
	Compare uint64 // AtomicETH
	Orig    uint64 // AtomicAckETH

	QKey  uint32 // DETH
	SrcQP uint32 // DETH

	Syndrome Syndrome // AETH
	MSN      uint32   // AETH

	Imm uint32 // ImmDt; of IETH the key

	Payload []byte
}

// Reasons why bytes are no packet.
var (
	ErrShort   = errors.New("packet: too short for its headers")
	ErrOpcode  = errors.New("packet: unknown opcode")
	ErrVersion = errors.New("packet: unknown transport version")
	ErrPayload = errors.New("packet: payload where its opcode has none, or padded for nothing")
	ErrICRC    = errors.New("packet: ICRC is wrong")
)

// HeaderLen is the bytes before the payload.
func (o Opcode) HeaderLen() int { return headerLens[o] }

var headerLens = func() (l [256]int) {
	for i, h := range known {
		l[i] = h.headerLen()
	}
	return
}()

// Len is the bytes of the whole datagram for n bytes of payload.
func (o Opcode) Len(n int) int { return o.HeaderLen() + (n+3)&^3 + icrcLen }

// PutHeader writes the headers to b, for a payload of n bytes that the caller writes behind them, and returns
// their length. b has HeaderLen bytes at least.
func (p *Packet) PutHeader(b []byte, n int) int {
	be := binary.BigEndian
	h := known[p.Opcode]
	b[0] = byte(p.Opcode)
	b[1] = byte(-n&3) << 4
	if p.Solicited {
		b[1] |= 0x80
	}
	if p.Migrated {
		b[1] |= 0x40
	}
	be.PutUint16(b[2:], p.PKey)
	be.PutUint32(b[4:], p.DestQP&MaxNum)
	be.PutUint32(b[8:], p.PSN&MaxNum)
	if p.AckReq {
		b[8] = 0x80
	}
	at := bthLen
	if h&HasRETH != 0 {
		be.PutUint64(b[at:], p.VA)
		be.PutUint32(b[at+8:], p.RKey)
		be.PutUint32(b[at+12:], p.Len)
		at += 16
	}
	if h&HasAtomic != 0 {
		be.PutUint64(b[at:], p.VA)
		be.PutUint32(b[at+8:], p.RKey)
		be.PutUint64(b[at+12:], p.Swap)
		be.PutUint64(b[at+20:], p.Compare)
		at += 28
	}
	if h&HasDETH != 0 {
		be.PutUint32(b[at:], p.QKey)
		be.PutUint32(b[at+4:], p.SrcQP&MaxNum)
		at += 8
	}
	if h&HasAETH != 0 {
		be.PutUint32(b[at:], uint32(p.Syndrome)<<24|p.MSN&MaxNum)
		at += 4
	}
	if h&HasAtomicAck != 0 {
		be.PutUint64(b[at:], p.Orig)
		at += 8
	}
	if h&(HasImm|HasInv) != 0 {
		be.PutUint32(b[at:], p.Imm)
		at += 4
	}
	return at
}

// Append writes the packet, its payload and pad, and an ICRC of zeros, for Seal.
func (p *Packet) Append(b []byte) []byte {
	var head [MaxHeader]byte
	n := p.PutHeader(head[:], len(p.Payload))
	b = append(b, head[:n]...)
	b = append(b, p.Payload...)
	for range -len(p.Payload) & 3 {
		b = append(b, 0)
	}
	return append(b, 0, 0, 0, 0)
}

// Parse reads the datagram b, without looking at its ICRC. The payload stays a part of b.
func (p *Packet) Parse(b []byte) error {
	be := binary.BigEndian
	if len(b) < bthLen+icrcLen {
		return fmt.Errorf("%w: %d bytes", ErrShort, len(b))
	}
	op := Opcode(b[0])
	h := known[op]
	switch {
	case h == 0:
		return ErrOpcode
	case b[1]&0x0f != 0:
		return ErrVersion
	}
	head, pad := headerLens[op], int(b[1]>>4&3)
	end := len(b) - icrcLen - pad
	if head > end {
		return ErrShort
	}
	if len(b)&3 != 0 || h&HasPayload == 0 && (end != head || pad != 0) || pad != 0 && end == head {
		return ErrPayload
	}
	*p = Packet{
		Opcode: op, Solicited: b[1]&0x80 != 0, Migrated: b[1]&0x40 != 0, AckReq: b[8]&0x80 != 0,
		PKey: be.Uint16(b[2:]), DestQP: be.Uint32(b[4:]) & MaxNum, PSN: be.Uint32(b[8:]) & MaxNum,
		Payload: b[head:end:end],
	}
	p.extensions(h, b[bthLen:head])
	return nil
}

// extensions reads what stands between BTH and payload; b has exactly that.
func (p *Packet) extensions(h Has, b []byte) {
	be := binary.BigEndian
	if h&HasRETH != 0 {
		p.VA, p.RKey, p.Len = be.Uint64(b), be.Uint32(b[8:]), be.Uint32(b[12:])
		b = b[16:]
	}
	if h&HasAtomic != 0 {
		p.VA, p.RKey, p.Swap, p.Compare = be.Uint64(b), be.Uint32(b[8:]), be.Uint64(b[12:]), be.Uint64(b[20:])
		b = b[28:]
	}
	if h&HasDETH != 0 {
		p.QKey, p.SrcQP = be.Uint32(b), be.Uint32(b[4:])&MaxNum
		b = b[8:]
	}
	if h&HasAETH != 0 {
		v := be.Uint32(b)
		p.Syndrome, p.MSN = Syndrome(v>>24), v&MaxNum
		b = b[4:]
	}
	if h&HasAtomicAck != 0 {
		p.Orig = be.Uint64(b)
		b = b[8:]
	}
	if h&(HasImm|HasInv) != 0 {
		p.Imm = be.Uint32(b)
	}
}

// String is a line for logs and traces.
func (p *Packet) String() string {
	s := fmt.Sprintf("%v qp %#06x psn %d", p.Opcode, p.DestQP, p.PSN)
	h := p.Opcode.Has()
	if h&HasAETH != 0 {
		s += fmt.Sprintf(" %v msn %d", p.Syndrome, p.MSN)
	}
	if h&HasRETH != 0 {
		s += fmt.Sprintf(" len %d", p.Len)
	}
	if h&HasPayload != 0 {
		s += fmt.Sprintf(" payload %d", len(p.Payload))
	}
	if p.AckReq {
		s += " ackreq"
	}
	return s
}
