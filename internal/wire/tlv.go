package wire

// A Hello and a HelloAck are two words of capabilities and then fields, each
//
//	type u16 | length u16 | body
//
// in ascending order of the type's number, each at most once. The type's high bit makes a field required: a reader that
// doesn't know it must not go on. It is a part of the type: a known number with the other bit is an error.

const (
	tlvRequired   = 1 << 15
	tlvHeaderSize = 4
	capsSize      = 8
)

// Types of the fields. Numbers are never reused.
const (
	tlvInstance = 1 | tlvRequired
	tlvSelf     = 2 | tlvRequired
	tlvPeer     = 3 | tlvRequired
	tlvNonce    = 4 | tlvRequired
	tlvMode     = 5 | tlvRequired
	tlvLimits   = 6 | tlvRequired
	tlvJoinKey  = 7 | tlvRequired
	tlvTimers   = 8 | tlvRequired
	tlvName     = 9
	tlvAddrs    = 10
	tlvJoin     = 11 | tlvRequired
)

// tlvs describes each known field by its number.
var tlvs = [...]struct {
	typ      uint16
	name     string
	min, max int // bytes of the body
}{
	1:  {tlvInstance, "instance", instanceSize, instanceSize},
	2:  {tlvSelf, "incarnation and endpoint", 16, 16},
	3:  {tlvPeer, "peer's incarnation and endpoint", 16, 16},
	4:  {tlvNonce, "nonce", 16, 16},
	5:  {tlvMode, "mode", 1, 1},
	6:  {tlvLimits, "limits", 24, 24},
	7:  {tlvJoinKey, "join key", 16, 16},
	8:  {tlvTimers, "timers", 8, 8},
	9:  {tlvName, "name", 1, MaxName},
	10: {tlvAddrs, "addresses", 2, MaxAddrs * (1 + MaxAddr)},
	11: {tlvJoin, "join proof", 16, 16},
}

// tlvNumber is a type without the bit that makes it required.
func tlvNumber(typ uint16) int { return int(typ &^ tlvRequired) }

// tlvBit is a field in a set of known ones.
func tlvBit(typ uint16) uint32 { return 1 << tlvNumber(typ) }

// shape says which fields a message has.
type shape struct {
	message   string
	must, may uint32 // sets of tlvBit; may includes must
}

// has says whether messages of this shape may have the field.
func (s *shape) has(typ uint16) bool { return s.may&tlvBit(typ) != 0 }

// next splits the field at b[off:]. The caller has made sure that off < len(b).
func (s *shape) next(b []byte, off int) (typ uint16, body []byte, err error) {
	if len(b)-off < tlvHeaderSize {
		return 0, nil, bad(s.message, len(b), "a field's type and length are cut off")
	}
	typ = le.Uint16(b[off:])
	size := int(le.Uint16(b[off+2:]))
	if size > len(b)-off-tlvHeaderSize {
		return 0, nil, bad(s.message, off+2, "a field is longer than the rest of the message")
	}
	start := off + tlvHeaderSize
	return typ, b[start : start+size], nil
}

// check walks all fields before any is read: order, duplicates, sizes, and what is required but unknown here. That comes first,
// since a peer that requires the unknown may well have left out or changed what is known.
func (s *shape) check(b []byte) error {
	if len(b) > ControlMax {
		return badSize(s.message, len(b), ControlMax)
	}
	if len(b) < capsSize {
		return bad(s.message, len(b), "the capability words are cut off")
	}
	unknown := UnsupportedError{Message: s.message, Caps: Caps(le.Uint32(b)) &^ KnownCaps}
	last := 0
	for off := capsSize; off < len(b); {
		typ, body, err := s.next(b, off)
		if err != nil {
			return err
		}
		number := tlvNumber(typ)
		if number <= last {
			return bad(s.message, off, "a field comes twice or out of order")
		}
		last = number
		if number >= len(tlvs) && typ&tlvRequired != 0 {
			unknown.TLVs = append(unknown.TLVs, typ)
		}
		off += tlvHeaderSize + len(body)
	}
	if unknown.Caps != 0 || len(unknown.TLVs) != 0 {
		e := unknown // only here does it leave the stack
		return &e
	}
	return nil
}

// known checks a field against its description and says whether it is to be read. An unknown one is skipped.
func (s *shape) known(typ uint16, body []byte, off int) (bool, error) {
	number := tlvNumber(typ)
	if number >= len(tlvs) {
		return false, nil
	}
	d := &tlvs[number]
	switch {
	case typ != d.typ:
		return false, bad(s.message, off, "field "+d.name+" has the wrong required bit")
	case !s.has(typ):
		return false, bad(s.message, off, "field "+d.name+" does not belong in this message")
	case len(body) < d.min || len(body) > d.max:
		return false, bad(s.message, off+2, "field "+d.name+" has a wrong length")
	}
	return true, nil
}

// missing names the first field that must be there and isn't.
func (s *shape) missing(seen uint32, size int) error {
	for number := range tlvs {
		if s.must&^seen&(1<<number) != 0 {
			return bad(s.message, size, "field "+tlvs[number].name+" is missing")
		}
	}
	return nil
}

// appendTLV appends a field's type and length. A length that isn't known yet is filled in by sizeTLV.
func appendTLV(b []byte, typ, size uint16) []byte {
	return le.AppendUint16(le.AppendUint16(b, typ), size)
}

// sizeTLV makes the field that begins at start end where b ends.
func sizeTLV(b []byte, start int) {
	le.PutUint16(b[start+2:], uint16(len(b)-start-tlvHeaderSize))
}
