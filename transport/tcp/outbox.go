package tcp

import (
	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/transport"
)

// chunkLen is the size of the buffers that frames are encoded into.
const chunkLen = 64 << 10

const (
	// earlyWrite is how much may be collected before Post writes by itself: a message of 1 MiB with all its headers less than that, so that its end has no
	// write of its own.
	earlyWrite = 1<<20 + 64<<10
	// askEvery so many bytes of small frames an acknowledgement is asked for, when a turn ends: the memory in which they are kept is used
	// again then, and is in the cache yet. Where nobody keeps them it pays, too: the system gives back its own sooner (docs/performance.md).
	askEvery = 128 << 10
	// askWithin is the same, for a turn that doesn't end.
	askWithin = 512 << 10
	// maxControl is how much control frames may wait; a single larger one is taken too. There is one for each message that is
	// refused, and a turn may bring ten thousands.
	maxControl = 16 << 20
	// keepControl of that memory is kept.
	keepControl = 64 << 10
)

// outbox is what has been posted and is not written yet.
//
//	control: |frame|frame|               written first, at a frame boundary
//	parts:   |chunk 1: frames|payload of the user|chunk 1: frames|chunk 2: frames|
//	          ^ off bytes of the first part are written; begun bytes of frame number sent
type outbox struct {
	ctl    []byte
	ctlOff int // written of it; whole frames only when 0
	ctlEnd int // where the last frame of it begins
	question

	chunk      *transport.Buffer // frames are encoded into it
	fill       int
	lastFrame  uint64 // number of the last frame that is in it
	lastHead   []byte // header of the last frame of all
	lentFrames int    // that may be given back at once

	parts []part
	first int // parts before it are written
	off   int
	sent  uint64 // frames that are written
	begun int    // bytes of the next one that are
	waits int    // bytes in parts

	letGo    uint64 // frames whose memory was let go, without retention
	blocked  bool   // the system takes no more now
	progress bool   // the last write took something
}

// question is whether to ask for an acknowledgement.
type question struct {
	wanted bool   // somebody wants one of what is posted
	asking bool   // a request is in the control frames
	kept   int    // bytes of frames that are encoded whole since the last
	lent   uint64 // frames up to the last that lends a payload, since the last; 0: none does
}

// part is a run of bytes: whole frames in a buffer, or the zero-copy payload of one.
type part struct {
	buf      *transport.Buffer // nil: the payload of frame, wherever it stands now
	from, to int
	frame    uint64
}

// control encodes a control frame.
func (o *outbox) control(h header, head, payload []byte) {
	var b [headerLen]byte
	h.emit(b[:])
	o.ctlEnd = len(o.ctl)
	o.ctl = append(o.ctl, b[:]...)
	o.ctl = append(o.ctl, head...)
	o.ctl = append(o.ctl, payload...)
}

func (o *outbox) controlLen() int { return len(o.ctl) - o.ctlOff }

// empty says whether nothing waits.
func (o *outbox) empty() bool { return o.waits == 0 && o.controlLen() == 0 }

// data encodes the frame whose entry in the books is e, number n.
func (o *outbox) data(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, n uint64) {
	h := header{size: uint32(e.Size), id: e.ID, head: uint16(len(e.Head))}
	if e.AckNow {
		h.flags = flagAckNow
	}
	size := headerLen + len(e.Head)
	if !e.ZeroCopy {
		size += len(e.Payload)
	}
	buf, at := o.memory(p, led, e, size)
	if buf == o.chunk {
		o.lastFrame = n
	}
	b := buf.Bytes[at : at+size]
	h.emit(b)
	o.lastHead = b[:headerLen]
	head := b[headerLen : headerLen+len(e.Head)]
	copy(head, e.Head)
	e.Head = head
	if !e.ZeroCopy {
		copy(b[headerLen+len(head):], e.Payload)
		e.Payload = b[headerLen+len(head):]
	}
	o.run(buf, at, size)
	if e.ZeroCopy && len(e.Payload) > 0 {
		o.parts = append(o.parts, part{to: len(e.Payload), frame: n})
		o.waits += len(e.Payload)
	}
}

// memory is where size bytes of a frame go. A frame that is larger than a chunk has a buffer of its own.
func (o *outbox) memory(p *mpool.Pool, led *ledger.Ledger, e *ledger.Entry, size int) (*transport.Buffer, int) {
	if size > chunkLen {
		e.Mem = p.Get(size)
		return e.Mem, 0
	}
	if o.chunk != nil && o.fill+size > chunkLen {
		o.handOver(led)
	}
	if o.chunk == nil {
		o.chunk, o.fill = p.Get(chunkLen), 0
	}
	at := o.fill
	o.fill += size
	return o.chunk, at
}

// handOver gives the full chunk to the last frame in it, with which it ends.
func (o *outbox) handOver(led *ledger.Ledger) {
	if o.lastFrame >= led.Acked() {
		if e := led.At(o.lastFrame); !e.Released {
			e.Mem = o.chunk
			o.chunk = nil
			return
		}
	}
	o.chunk.Release()
	o.chunk = nil
}

// run appends bytes that are ready, to the last part if they stand right behind it.
func (o *outbox) run(buf *transport.Buffer, at, size int) {
	o.waits += size
	if n := len(o.parts); n > o.first {
		if last := &o.parts[n-1]; last.buf == buf && last.to == at {
			last.to += size
			return
		}
	}
	o.parts = append(o.parts, part{buf: buf, from: at, to: at + size})
}

// bytes of a part.
func (o *outbox) bytes(led *ledger.Ledger, p *part) []byte {
	if p.buf == nil {
		return led.At(p.frame).Payload
	}
	return p.buf.Bytes[p.from:p.to]
}

// written takes n bytes off the parts, and counts the frames that end with them.
func (o *outbox) written(led *ledger.Ledger, n int) {
	o.waits -= n
	for o.begun += n; o.sent < led.Posted(); o.sent++ {
		size := headerLen + led.At(o.sent).Size
		if o.begun < size {
			break
		}
		o.begun -= size
	}
	for n += o.off; o.first < len(o.parts); o.first++ {
		size := o.parts[o.first].to - o.parts[o.first].from
		if n < size {
			break
		}
		n -= size
		o.parts[o.first] = part{}
	}
	o.off = n
	switch {
	case o.first == len(o.parts):
		o.parts, o.first = o.parts[:0], 0
	case o.first > 64 && o.first > len(o.parts)/2:
		k := copy(o.parts, o.parts[o.first:])
		clear(o.parts[k:])
		o.parts, o.first = o.parts[:k], 0
	}
}

// ask has the peer acknowledge what was posted so far: by the last frame if it isn't begun yet, since a control frame would
// overtake it.
func (o *outbox) ask(led *ledger.Ledger) {
	o.kept, o.lent = 0, 0
	if unwritten := led.Posted() - o.sent; unwritten > 1 || unwritten == 1 && o.begun == 0 {
		o.lastHead[offFlags] |= flagAckNow
	} else if !o.asking {
		o.asking = true
		o.control(header{flags: flagControl | flagAckNow}, nil, nil)
	}
}

// controlWritten takes n bytes off the control frames.
func (o *outbox) controlWritten(n int) {
	if o.ctlOff += n; o.ctlOff < len(o.ctl) {
		return
	}
	o.ctlOff, o.ctlEnd, o.asking = 0, 0, false
	if o.ctl = o.ctl[:0]; cap(o.ctl) > keepControl {
		o.ctl = nil
	}
}

// drop forgets what waits. The chunk stays: frames in it may be handed out yet.
func (o *outbox) drop() {
	o.ctl, o.ctlOff, o.ctlEnd, o.asking = nil, 0, 0, false
	o.parts, o.first, o.off, o.waits, o.lastHead = nil, 0, 0, 0, nil
	o.blocked = false
}
