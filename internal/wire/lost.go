package wire

// Lost states how much this side accepted on an instance that is lost, once it has quiesced it. It may
// come again, doubled and on any lane: it always says the same about one instance, but for Have.
type Lost struct {
	Instance Instance
	Have     bool   // I have your position already: answer Gone
	Position uint64 // data frames accepted
	Bytes    uint64 // bytes accepted, for reports
	Refusals uint64 // Refused frames that this side has issued on the instance
}

const lostSize = instanceSize + 32

// AppendTo appends the message to b.
func (m Lost) AppendTo(b []byte) []byte {
	var have byte
	if m.Have {
		have = 1
	}
	b = append(m.Instance.appendTo(b), have, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint64(b, m.Position)
	b = le.AppendUint64(b, m.Bytes)
	return le.AppendUint64(b, m.Refusals)
}

// DecodeLost reads a Lost.
//
// Errors: *FormatError.
func DecodeLost(b []byte) (Lost, error) {
	const name, off = "Lost", instanceSize
	if err := exact(name, b, lostSize); err != nil {
		return Lost{}, err
	}
	i, err := instanceAt(name, b, 0)
	if err != nil {
		return Lost{}, err
	}
	if b[off] > 1 {
		return Lost{}, bad(name, off, "have is neither 0 nor 1")
	}
	if err := reserved(name, b, off+1, off+8); err != nil {
		return Lost{}, err
	}
	return Lost{
		Instance: i,
		Have:     b[off] == 1,
		Position: le.Uint64(b[off+8:]),
		Bytes:    le.Uint64(b[off+16:]),
		Refusals: le.Uint64(b[off+24:]),
	}, nil
}

// Gone ends the exchange about a lost instance: its sender keeps no record of it any more.
type Gone struct {
	Instance Instance
}

// AppendTo appends the message to b.
func (m Gone) AppendTo(b []byte) []byte { return m.Instance.appendTo(b) }

// DecodeGone reads a Gone.
//
// Errors: *FormatError.
func DecodeGone(b []byte) (Gone, error) {
	if err := exact("Gone", b, instanceSize); err != nil {
		return Gone{}, err
	}
	i, err := instanceAt("Gone", b, 0)
	return Gone{Instance: i}, err
}
