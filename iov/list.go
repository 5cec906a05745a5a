package iov

import "sync"

// Packer is what can be sent. Len is asked first, then Pack is called once, and not by another goroutine.
//
// Source: ucp_generic_dt_ops_t: packed_size, pack.
type Packer interface {
	Len() int        // bytes
	Pack(dst []byte) // fills dst, which has so many
}

// Unpacker is what can be received into. The bytes are only its while Unpack runs.
//
// Source: ucp_generic_dt_ops_t: unpack.
type Unpacker interface {
	Len() int                // bytes for which there is room
	Unpack(src []byte) error // takes what came: so many at the most, of a get all
}

// List is buffers that are sent one behind the other, and filled one after the other. Empty ones are legal.
//
// Source: UCP_DATATYPE_IOV, net.Buffers.
type List [][]byte

// Len is the bytes of all.
func (l List) Len() (n int) {
	for _, b := range l {
		n += len(b)
	}
	return n
}

// Pack copies all into dst.
func (l List) Pack(dst []byte) {
	for _, b := range l {
		dst = dst[copy(dst, b):]
	}
}

// Unpack copies src into the buffers, and leaves those alone that it is too short for.
func (l List) Unpack(src []byte) error {
	for _, b := range l {
		src = src[copy(b, src):]
	}
	return nil
}

// whole is the only buffer of a list that has one that isn't empty.
func (l List) whole() (b []byte, ok bool) {
	for _, x := range l {
		switch {
		case len(x) == 0:
		case b != nil:
			return nil, false
		default:
			b = x
		}
	}
	return b, true
}

// apart says whether the pieces are worth an operation each.
func (l List) apart() bool { return len(l) > 0 && l.Len()/len(l) >= worth }

const (
	worth = 4 << 10 // bytes of a piece
	kept  = 4 << 20 // bytes of a buffer that is kept
)

// buffers are kept for what is sent and received through one.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// buffer has n bytes. It goes back with give.
func buffer(n int) *[]byte {
	b := buffers.Get().(*[]byte)
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	return b
}

func give(b *[]byte) {
	if cap(*b) <= kept {
		buffers.Put(b)
	}
}
