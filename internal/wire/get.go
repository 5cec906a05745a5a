package wire

// Sizes of heads.
const (
	GetSize     = 40
	GetDataSize = 24
)

// Get is the head of a request to read the peer's memory: [Offset, Offset+Size) of the region. It is answered by one
// GetData. It has no payload.
type Get struct {
	Index  uint32 // of the region, from its RKey
	Size   uint32 // bytes wanted: not more than fit one frame
	Secret Secret // from its RKey
	Offset uint64 // bytes from the region's start
	Op     uint64 // names the operation
	At     uint64 // where in the operation the bytes belong
}

// AppendTo appends the head to b.
func (h Get) AppendTo(b []byte) []byte {
	b = le.AppendUint32(b, h.Index)
	b = le.AppendUint32(b, h.Size)
	b = le.AppendUint64(b, uint64(h.Secret))
	b = le.AppendUint64(b, h.Offset)
	return appendPair(b, h.Op, h.At)
}

// DecodeGet reads the head of a Get.
//
// Errors: *FormatError.
func DecodeGet(b []byte) (h Get, err error) {
	if len(b) != GetSize {
		return h, exact("Get", b, GetSize)
	}
	h.Index = le.Uint32(b)
	h.Size = le.Uint32(b[4:])
	h.Secret = Secret(le.Uint64(b[8:]))
	h.Offset = le.Uint64(b[16:])
	h.Op = le.Uint64(b[24:])
	h.At = le.Uint64(b[32:])
	return h, nil
}

// GetData is the head of the answer to one Get, or to one AtomicOp that fetches: the payload is what was asked for, or empty if Code says why
// not. It is an operation of the target: a lost lane doesn't lose it.
type GetData struct {
	Op   uint64      // as in the Get
	At   uint64      // as in the Get; 0 of an AtomicOp
	Code RefusedCode // 0: here it is
}

// AppendTo appends the head to b.
func (h GetData) AppendTo(b []byte) []byte {
	b = appendPair(b, h.Op, h.At)
	return le.AppendUint64(b, uint64(h.Code)) // and 4 reserved bytes
}

// DecodeGetData reads the head of a GetData.
//
// Errors: *FormatError.
func DecodeGetData(b []byte) (h GetData, err error) {
	if len(b) != GetDataSize || le.Uint32(b[20:]) != 0 {
		return h, badGetData(b)
	}
	h.Op = le.Uint64(b)
	h.At = le.Uint64(b[8:])
	h.Code = RefusedCode(le.Uint32(b[16:]))
	return h, nil
}

func badGetData(b []byte) error {
	if err := exact("GetData", b, GetDataSize); err != nil {
		return err
	}
	return reserved("GetData", b, 20, 24)
}
