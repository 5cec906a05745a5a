package packet

import "fmt"

// Opcode is the first byte of a packet: service in the upper three bits, operation below.
type Opcode uint8

// The opcodes that are there: of the services RC and UD.
const (
	SendFirst     Opcode = 0x00
	SendMiddle    Opcode = 0x01
	SendLast      Opcode = 0x02
	SendLastImm   Opcode = 0x03
	SendOnly      Opcode = 0x04
	SendOnlyImm   Opcode = 0x05
	WriteFirst    Opcode = 0x06
	WriteMiddle   Opcode = 0x07
	WriteLast     Opcode = 0x08
	WriteLastImm  Opcode = 0x09
	WriteOnly     Opcode = 0x0a
	WriteOnlyImm  Opcode = 0x0b
	ReadRequest   Opcode = 0x0c
	ReadFirst     Opcode = 0x0d // answers to ReadRequest
	ReadMiddle    Opcode = 0x0e
	ReadLast      Opcode = 0x0f
	ReadOnly      Opcode = 0x10
	Acknowledge   Opcode = 0x11
	AtomicAck     Opcode = 0x12
	CompareSwap   Opcode = 0x13
	FetchAdd      Opcode = 0x14
	SendLastInv   Opcode = 0x16
	SendOnlyInv   Opcode = 0x17
	UDSendOnly    Opcode = 0x64
	UDSendOnlyImm Opcode = 0x65
)

// Has is what a packet of an opcode carries, and where in a message it stands.
type Has uint16

// The parts.
const (
	HasRETH Has = 1 << iota
	HasAtomic
	HasDETH
	HasAETH
	HasAtomicAck
	HasImm
	HasInv
	HasPayload
	First    // begins a message of which more packets come
	Middle   //
	Last     // ends one that began before
	Only     // is a message of its own
	Answer   // from responder to requester
	IsSend   // goes into a receive
	IsWrite  //
	Datagram // of service UD
)

var known = [256]Has{
	SendFirst:     HasPayload | First | IsSend,
	SendMiddle:    HasPayload | Middle | IsSend,
	SendLast:      HasPayload | Last | IsSend,
	SendLastImm:   HasPayload | Last | IsSend | HasImm,
	SendOnly:      HasPayload | Only | IsSend,
	SendOnlyImm:   HasPayload | Only | IsSend | HasImm,
	WriteFirst:    HasPayload | First | IsWrite | HasRETH,
	WriteMiddle:   HasPayload | Middle | IsWrite,
	WriteLast:     HasPayload | Last | IsWrite,
	WriteLastImm:  HasPayload | Last | IsWrite | HasImm,
	WriteOnly:     HasPayload | Only | IsWrite | HasRETH,
	WriteOnlyImm:  HasPayload | Only | IsWrite | HasRETH | HasImm,
	ReadRequest:   Only | HasRETH,
	ReadFirst:     HasPayload | First | Answer | HasAETH,
	ReadMiddle:    HasPayload | Middle | Answer,
	ReadLast:      HasPayload | Last | Answer | HasAETH,
	ReadOnly:      HasPayload | Only | Answer | HasAETH,
	Acknowledge:   Only | Answer | HasAETH,
	AtomicAck:     Only | Answer | HasAETH | HasAtomicAck,
	CompareSwap:   Only | HasAtomic,
	FetchAdd:      Only | HasAtomic,
	SendLastInv:   HasPayload | Last | IsSend | HasInv,
	SendOnlyInv:   HasPayload | Only | IsSend | HasInv,
	UDSendOnly:    HasPayload | Only | IsSend | HasDETH | Datagram,
	UDSendOnlyImm: HasPayload | Only | IsSend | HasDETH | HasImm | Datagram,
}

// Has is what packets of the opcode carry; 0 for one that isn't known.
func (o Opcode) Has() Has { return known[o] }

// headerLen is the bytes of all headers, by opcode.
func (h Has) headerLen() int {
	n := bthLen
	for _, part := range [...]struct {
		bit Has
		len int
	}{{HasRETH, 16}, {HasAtomic, 28}, {HasDETH, 8}, {HasAETH, 4}, {HasAtomicAck, 8}, {HasImm, 4}, {HasInv, 4}} {
		if h&part.bit != 0 {
			n += part.len
		}
	}
	return n
}

var opcodeNames = map[Opcode]string{
	SendFirst: "SEND_FIRST", SendMiddle: "SEND_MIDDLE", SendLast: "SEND_LAST", SendLastImm: "SEND_LAST_IMM",
	SendOnly: "SEND_ONLY", SendOnlyImm: "SEND_ONLY_IMM", WriteFirst: "WRITE_FIRST", WriteMiddle: "WRITE_MIDDLE",
	WriteLast: "WRITE_LAST", WriteLastImm: "WRITE_LAST_IMM", WriteOnly: "WRITE_ONLY", WriteOnlyImm: "WRITE_ONLY_IMM",
	ReadRequest: "READ_REQUEST", ReadFirst: "READ_FIRST", ReadMiddle: "READ_MIDDLE", ReadLast: "READ_LAST",
	ReadOnly: "READ_ONLY", Acknowledge: "ACK", AtomicAck: "ATOMIC_ACK", CompareSwap: "CMP_SWAP", FetchAdd: "FETCH_ADD",
	SendLastInv: "SEND_LAST_INV", SendOnlyInv: "SEND_ONLY_INV", UDSendOnly: "UD_SEND", UDSendOnlyImm: "UD_SEND_IMM",
}

func (o Opcode) String() string {
	if n := opcodeNames[o]; n != "" {
		return n
	}
	return fmt.Sprintf("opcode %#02x", uint8(o))
}

// Opcodes lists the known ones in ascending order.
func Opcodes() []Opcode {
	var all []Opcode
	for o, h := range known {
		if h != 0 {
			all = append(all, Opcode(o))
		}
	}
	return all
}
