package wire

import "strconv"

// AtomicOpSize is the size of its head.
const AtomicOpSize = 48

// Change is what an atomic operation does with a word.
type Change uint8

const (
	ChangeAdd     Change = 1
	ChangeAnd     Change = 2
	ChangeOr      Change = 3
	ChangeXor     Change = 4
	ChangeSwap    Change = 5
	ChangeCompare Change = 6 // compare and swap
)

func (c Change) String() string {
	switch c {
	case ChangeAdd:
		return "add"
	case ChangeAnd:
		return "and"
	case ChangeOr:
		return "or"
	case ChangeXor:
		return "xor"
	case ChangeSwap:
		return "swap"
	case ChangeCompare:
		return "compare-and-swap"
	}
	return "change(" + strconv.Itoa(int(c)) + ")"
}

// AtomicOp is the head of a change of one aligned word of the peer's memory that nothing else comes between. It has no payload. If it fetches it is
// answered by one GetData with the word's old value, little-endian; else it is refused or executed as a Put.
type AtomicOp struct {
	Index   uint32 // of the region, from its RKey
	Change  Change
	Size    uint8  // of the word: 4 or 8
	Fetch   bool   // answer with what it was
	Secret  Secret // from its RKey
	Offset  uint64 // bytes from the region's start
	Op      uint64 // names the operation
	Value   uint64 // of Size bytes: to be added, and so on
	Compare uint64 // of Size bytes: what the word must be; 0 without compare
}

// AppendTo appends the head to b.
func (h AtomicOp) AppendTo(b []byte) []byte {
	fetch := byte(0)
	if h.Fetch {
		fetch = 1
	}
	b = le.AppendUint32(b, h.Index)
	b = append(b, byte(h.Change), h.Size, fetch, 0)
	b = appendPair(b, uint64(h.Secret), h.Offset)
	b = le.AppendUint64(b, h.Op)
	return appendPair(b, h.Value, h.Compare)
}

// DecodeAtomicOp reads the head of an AtomicOp.
//
// Errors: *FormatError.
func DecodeAtomicOp(b []byte) (h AtomicOp, err error) {
	if err := exact("AtomicOp", b, AtomicOpSize); err != nil {
		return h, err
	}
	if err := reserved("AtomicOp", b, 7, 8); err != nil {
		return h, err
	}
	h = AtomicOp{
		Index: le.Uint32(b), Change: Change(b[4]), Size: b[5], Fetch: b[6] == 1, Secret: Secret(le.Uint64(b[8:])), Offset: le.Uint64(b[16:]),
		Op: le.Uint64(b[24:]), Value: le.Uint64(b[32:]), Compare: le.Uint64(b[40:]),
	}
	switch {
	case h.Change < ChangeAdd || h.Change > ChangeCompare:
		return AtomicOp{}, bad("AtomicOp", 4, "no such change")
	case h.Size != 4 && h.Size != 8:
		return AtomicOp{}, bad("AtomicOp", 5, "size is neither 4 nor 8")
	case b[6] > 1:
		return AtomicOp{}, bad("AtomicOp", 6, "fetch is neither 0 nor 1")
	case h.Size == 4 && h.Value>>32 != 0:
		return AtomicOp{}, bad("AtomicOp", 32, "value has more than 4 bytes")
	case h.Size == 4 && h.Compare>>32 != 0 || h.Change != ChangeCompare && h.Compare != 0:
		return AtomicOp{}, bad("AtomicOp", 40, "compare has more than 4 bytes, or nothing is compared")
	}
	return h, nil
}
