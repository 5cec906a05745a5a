package wire

// PutSignalSize is the size of its head.
const PutSignalSize = PutSize + 32

// Signal is a change of one aligned word of the peer's memory.
type Signal struct {
	Index  uint32 // of the region, from its RKey
	Add    bool   // add Value to the word; otherwise store it
	Secret Secret // from its RKey
	Offset uint64 // bytes from the region's start
	Value  uint64
}

// PutSignal is the head of a Put with the signal that follows it: the payload is written, and then the word is changed. Both keys are looked
// at first: if one is refused, nothing is done.
type PutSignal struct {
	Put
	Signal Signal
}

// AppendTo appends the head to b.
func (h PutSignal) AppendTo(b []byte) []byte {
	b = h.Put.AppendTo(b)
	b = le.AppendUint32(b, h.Signal.Index)
	add := uint32(0)
	if h.Signal.Add {
		add = 1
	}
	b = le.AppendUint32(b, add) // a byte, and 3 reserved ones
	b = le.AppendUint64(b, uint64(h.Signal.Secret))
	return appendPair(b, h.Signal.Offset, h.Signal.Value)
}

// DecodePutSignal reads the head of a PutSignal.
//
// Errors: *FormatError.
func DecodePutSignal(b []byte) (h PutSignal, err error) {
	if err := exact("PutSignal", b, PutSignalSize); err != nil {
		return h, err
	}
	if err := reserved("PutSignal", b, 4, 8); err != nil {
		return h, err
	}
	if h.Put, err = DecodePut(b[:PutSize]); err != nil {
		return h, err
	}
	if b[36] > 1 {
		return PutSignal{}, bad("PutSignal", 36, "add is neither 0 nor 1")
	}
	if err := reserved("PutSignal", b, 37, 40); err != nil {
		return PutSignal{}, err
	}
	h.Signal = Signal{Index: le.Uint32(b[32:]), Add: b[36] == 1, Secret: Secret(le.Uint64(b[40:])), Offset: le.Uint64(b[48:]), Value: le.Uint64(b[56:])}
	return h, nil
}
