package wire

// MaxHeader is the most that a user's header of an active message can have on the wire. A lane may allow less.
const MaxHeader = 1<<16 - 1

// Sizes of heads, without the user's header.
const (
	AMSize      = 4
	AMFirstSize = 24
	AMFragSize  = 16
)

// AM is the head of an active message that fits one frame: the payload is the message.
type AM struct {
	ID     uint16
	Header []byte // the user's; decoded, it aliases the frame
}

// AppendTo appends the head to b. It panics if Header is longer than MaxHeader: that is the caller's to check.
func (h AM) AppendTo(b []byte) []byte {
	b = le.AppendUint32(b, uint32(h.ID)|headerSize(h.Header)<<16)
	return append(b, h.Header...)
}

// DecodeAM reads the head of an AM.
//
// Errors: *FormatError.
func DecodeAM(b []byte) (AM, error) {
	if len(b) < AMSize || len(b) != AMSize+int(le.Uint16(b[2:])) {
		return AM{}, badHeader("AM", b, AMSize)
	}
	return AM{ID: le.Uint16(b), Header: b[AMSize:len(b):len(b)]}, nil
}

// AMFirst is the head of the first frame of a larger message: the payload is the message from offset 0 on.
type AMFirst struct {
	ID     uint16
	Msg    uint64 // names the message, among those of its endpoint and direction
	Total  uint64 // bytes of the whole message
	Header []byte // the user's; decoded, it aliases the frame
}

// AppendTo appends the head to b. It panics if Header is longer than MaxHeader: that is the caller's to check.
func (h AMFirst) AppendTo(b []byte) []byte {
	b = le.AppendUint64(b, uint64(h.ID)|uint64(headerSize(h.Header))<<16)
	b = le.AppendUint64(b, h.Msg)
	b = le.AppendUint64(b, h.Total)
	return append(b, h.Header...)
}

// DecodeAMFirst reads the head of an AMFirst.
//
// Errors: *FormatError.
func DecodeAMFirst(b []byte) (AMFirst, error) {
	if len(b) < AMFirstSize || len(b) != AMFirstSize+int(le.Uint16(b[2:])) || le.Uint32(b[4:]) != 0 {
		return AMFirst{}, badAMFirst(b)
	}
	return AMFirst{
		ID:     le.Uint16(b),
		Msg:    le.Uint64(b[8:]),
		Total:  le.Uint64(b[16:]),
		Header: b[AMFirstSize:len(b):len(b)],
	}, nil
}

// AMFrag is the head of a further frame of a larger message. It carries no order: offset says where its payload belongs.
type AMFrag struct {
	Msg    uint64
	Offset uint64
}

// AppendTo appends the head to b.
func (h AMFrag) AppendTo(b []byte) []byte { return appendPair(b, h.Msg, h.Offset) }

// DecodeAMFrag reads the head of an AMFrag.
//
// Errors: *FormatError.
func DecodeAMFrag(b []byte) (AMFrag, error) {
	if len(b) != AMFragSize {
		return AMFrag{}, badAMFrag(b)
	}
	return AMFrag{Msg: le.Uint64(b), Offset: le.Uint64(b[8:])}, nil
}

func headerSize(header []byte) uint32 {
	if len(header) > MaxHeader {
		panic("wire: header of an active message is longer than MaxHeader")
	}
	return uint32(len(header))
}

// The errors of the decoders above, apart so that these stay small.

func badAMFirst(b []byte) error {
	if len(b) >= AMFirstSize {
		if err := reserved("AMFirst", b, 4, 8); err != nil {
			return err
		}
	}
	return badHeader("AMFirst", b, AMFirstSize)
}

func badAMFrag(b []byte) error { return badSize("AMFrag", len(b), AMFragSize) }

// badHeader says why a head with a user's header behind size bytes can't be.
func badHeader(message string, b []byte, size int) error {
	if len(b) < size {
		return badSize(message, len(b), size)
	}
	return badSize(message, len(b), size+int(le.Uint16(b[2:])))
}
