package intake

import (
	"github.com/openbraid/braid/internal/memory"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
)

// Landing is where the payload that is arriving on one lane is written, if it goes straight to where it belongs: one of them.
type Landing struct {
	placed  *memory.Region      // of a put
	reading *request.Request    // of the answer to this get, or of what is put for this receive
	filling *reassembly.Message // of a fragment
}

// Place finds the memory for a payload of size bytes from the head of its frame: a put goes straight to where it belongs, a fragment into its message.
// Nil: there is none, and the frame is to be taken as a whole.
func (k *Intake) Place(at *Landing, id uint8, head []byte, size int) []byte {
	switch id {
	case wire.IDPut:
		h, err := wire.DecodePut(head)
		if err != nil {
			return nil
		}
		r, b, code := k.Memory.Target(h.Index, h.Secret, wire.Write, h.Offset, uint64(size))
		if code != 0 || !r.Enter() {
			return nil
		}
		at.placed = r
		return b
	case wire.IDGetData:
		if h, err := wire.DecodeGetData(head); err == nil {
			return at.read(k.Box.GetRoom(h, size))
		}
	case wire.IDTagPut:
		if h, err := wire.DecodeTagPut(head); err == nil {
			return at.read(k.Box.PutRoom(h, size))
		}
	case wire.IDAMPart:
		if h, err := wire.DecodeAMPart(head); err == nil && k.Parts.Part(h.Msg, h.Total) == nil {
			return k.placeFragment(at, h.Msg, h.Offset, size)
		}
	case wire.IDAMFrag:
		if h, err := wire.DecodeAMFrag(head); err == nil {
			return k.placeFragment(at, h.Msg, h.Offset, size)
		}
	}
	return nil
}

// read notes whose memory is written, if there is any.
func (at *Landing) read(b []byte, r *request.Request) []byte {
	if b != nil {
		at.reading = r
	}
	return b
}

// placeFragment holds the message until the fragment is whole, or the lane is lost: its handler may run as soon as it
// is delivered, and must not read what is still being written.
func (k *Intake) placeFragment(at *Landing, msg, offset uint64, size int) []byte {
	b, m, err := k.Parts.Place(msg, offset, uint64(size))
	if err != nil {
		return nil
	}
	at.filling = m
	return b
}

// Leave ends what Place began.
func (at *Landing) Leave() {
	if at.placed != nil {
		at.placed.Leave()
		at.placed = nil
	}
	if at.filling != nil {
		at.filling.Unplace()
		at.filling = nil
	}
	at.reading = nil
}

// Busy says whether anything is being written.
func (at *Landing) Busy() bool { return at.placed != nil || at.reading != nil || at.filling != nil }

// Reads says whether the memory of a get is being written.
func (at *Landing) Reads(r *request.Request) bool { return at.reading == r }

// Fills says whether a message of several frames is being written.
func (at *Landing) Fills() bool { return at.filling != nil }
