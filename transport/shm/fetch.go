//go:build linux

package shm

import (
	"encoding/binary"
	"fmt"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/frames"
	"github.com/openbraid/braid/transport/shm/ring"
	"github.com/openbraid/braid/transport/shm/segment"
)

// inbox is what has arrived and is not accepted yet.
type inbox struct {
	frames.Arena
	data, control frames.Partial

	accepted, acceptedBytes uint64
	taking                  bool // the sink is taking a data frame right now
	takingSize              uint32

	peer    cma.Reader // of payloads that stand in the peer's memory
	reading reading
	fetched uint64 // frames
}

// reading is how far this side is with such payloads.
//
//	sound ──can't read──> refused: nothing of data is taken ──the peer goes back──> again: the frame that could not be read comes first ──> sound
//	  └──the peer took it back──> withheld: nothing is taken; the end comes
type reading uint8

const (
	sound reading = iota
	refused
	again
	withheld
)

// accept counts the frame that the sink has taken, or is answerable for: once.
func (in *inbox) accept() {
	if in.taking {
		in.accepted++
		in.acceptedBytes += uint64(in.takingSize)
		in.taking = false
	}
}

// drop lets go of everything.
func (in *inbox) drop() {
	in.data.Drop()
	in.control.Drop()
	in.Drop()
}

// tryPeer looks whether the peer's memory may be read, and tells him.
func (ep *endpoint) tryPeer(m cma.Mark) {
	f := ep.f
	if m.Addr == 0 || !f.mayRead {
		return
	}
	if err := ep.recv.peer.Open(ep.peer, m); err != nil {
		f.env.Log.Debug("large payloads of a peer go through the ring: its memory can't be read", "peer", ep.remote, "err", err)
		return
	}
	ep.sayOwn(flagReads, nil)
}

// fetch takes a frame whose payload stands in the peer's memory, and returns how many bytes that were. Whatever its slot says is loaded once, but for
// the place.
func (ep *endpoint) fetch(h ring.Header, body []byte) int {
	r := &ep.recv
	at, size, memory := ep.in.Word(), binary.LittleEndian.Uint32(body[8:]), binary.LittleEndian.Uint32(body[12:])
	if size == 0 || int64(size) > int64(ep.lim.frame-int(h.Head)) {
		ep.broke(ep.wrap("connection", fmt.Errorf("%w: the peer offers a payload of %d bytes, agreed are frames of %d", transport.ErrProtocol, size, ep.lim.frame)))
		return 0
	}
	if at == 0 {
		r.reading = withheld
		return 0
	}
	h.Size = uint32(h.Head) + size
	h.Flags &^= flagAway
	p, ok := ep.begin(h, body[awayLen:])
	if !ok {
		return 0
	}
	for {
		err := ep.read(p.Place, at, memory)
		if err != nil {
			ep.refuse(p, err)
			return 0
		}
		is := ep.in.Word()
		if is == at {
			break
		}
		if at = is; at == 0 {
			r.data, r.reading = p, withheld
			return 0
		}
	}
	r.fetched++
	ep.done()
	ep.take(h, p)
	return int(size)
}

// read copies a payload from where it stands: in memory that was borrowed, or in the peer's own.
func (ep *endpoint) read(dst []byte, at uint64, memory uint32) error {
	if at&inMemory != 0 {
		return ep.borrowed.Read(dst, memory, at&^inMemory)
	}
	return ep.recv.peer.Read(dst, at)
}

// refuse: the peer's memory can't be read any more. He goes back to this frame and sends it through the ring, as all after it, unless he is gone.
func (ep *endpoint) refuse(p frames.Partial, err error) {
	r := &ep.recv
	r.data, r.peer = p, cma.Reader{}
	if segment.Ended(ep.fd) {
		r.reading = withheld
		ep.fail("connection", errGone)
		return
	}
	if f := ep.f; !f.refused {
		f.refused = true
		f.env.Log.Warn("the memory of a peer can't be read any more, what is large goes through the ring", "err", newError(Error{Op: "read", Local: ep.local, Remote: ep.remote, Err: err}))
	}
	r.reading = refused
	ep.done()
	var position [8]byte
	binary.LittleEndian.PutUint64(position[:], r.accepted)
	ep.sayOwn(flagReads, position[:])
}

// resumed: what comes now is what could not be read; or the peer has the memory that is sent from.
//
// Errors: transport.ErrProtocol.
func (ep *endpoint) resumed(what []byte) error {
	if len(what) > 0 {
		ep.lent.Has(transport.MemKey(what))
		return nil
	}
	if ep.recv.reading != refused {
		return fmt.Errorf("%w: the peer goes back to a frame that nobody has refused", transport.ErrProtocol)
	}
	ep.recv.reading = again
	return nil
}

// afresh takes the first piece of the frame that could not be read.
func (ep *endpoint) afresh(h ring.Header, body []byte) {
	r := &ep.recv
	r.reading = sound
	whole := r.data.Again(body[h.Head:])
	ep.done()
	if !whole {
		ep.hear(h)
		return
	}
	p := r.data
	r.data = frames.Partial{}
	ep.take(h, p)
}

// skips says whether data pieces are let pass.
func (ep *endpoint) skips() bool { return ep.state == quiesced || ep.recv.reading == refused }

// ready says whether there is something to take.
func (ep *endpoint) ready() bool { return ep.recv.reading != withheld && ep.in.Ready() }
