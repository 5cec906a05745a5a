package request

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid/internal/wire"
)

// A message that its sender puts: the receive has asked for so many bytes, and counts them, to the last one, whatever becomes of either side's user. So no
// frame is late, and the receive's number names its memory for as long as there can be one.

// Expect notes that so many bytes of a message are to be put into dst.
func (r *Request) Expect(dst []byte) {
	n := uint64(len(dst))
	r.Dst, r.Put, r.Asked, r.Left = dst, true, n, n
	r.Replies, r.Whole = 1, true
}

// Cleared: the peer has room for so many bytes of this message. The error says that it can't have asked.
func (r *Request) Cleared(size uint64) error {
	if !r.Put || r.Room || !r.Whole || size > r.Size {
		return fmt.Errorf("room of %d bytes for a message of %d that is not to be put there", size, r.Size)
	}
	r.Room = true
	return nil
}

// Into is the memory of a get, or of a receive, for size bytes at an offset, nil if its user has none for them.
func (r *Request) Into(at uint64, size int) []byte {
	if at > uint64(len(r.Dst)) || uint64(size) > uint64(len(r.Dst))-at {
		return nil
	}
	return r.Dst[at : at+uint64(size) : at+uint64(size)]
}

// Landed counts bytes of such a message, or takes the word that no more come: then those that were put, and are not here yet, are waited for. back
// says that it is this word. The error says that the peer can't have put them there.
func (r *Request) Landed(h wire.TagPut, n uint64) (back bool, err error) {
	here := r.Asked - r.Left
	switch {
	case h.Code != 0 && (n > 0 || r.Closing || h.At >= r.Asked || h.At < here):
		return false, fmt.Errorf("the end of a message at %d of %d bytes, of which %d are here", h.At, r.Asked, here)
	case h.Code != 0:
		r.Closing, r.Asked, r.Left = true, h.At, h.At-here
		return true, nil
	case n == 0 || n > r.Left || h.At > r.Asked || n > r.Asked-h.At:
		return false, fmt.Errorf("%d bytes at %d of a message of which %d of %d are here", n, h.At, here, r.Asked)
	}
	r.Left -= n
	return false, nil
}

// Fetched: the operation of a fetch was executed on the memory itself, which had this value before.
func (r *Request) Fetched(h *wire.AtomicOp, old uint64) {
	r.Change = *h
	binary.LittleEndian.PutUint64(r.Word[:], old)
	r.Whole, r.Retired, r.Trace.Mapped = true, true, true
}
