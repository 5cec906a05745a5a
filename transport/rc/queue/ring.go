package queue

import (
	"fmt"

	"github.com/openbraid/braid/transport"
)

// Ring are the books of one queue pair's send ring. Blocks have 16-bit indices that run on and wrap.
//
//	done                    pi
//	  v                      v
//	..[ w | w | w* | w | w* ]....     post at the right, complete at the left
//	                 ^ signaled: its completion ends the ones before it too
//
// Invariants, at every step: pi - done = the blocks of the work requests in it ≤ Blocks; each one leaves once.
type Ring struct {
	Blocks uint16 // that may be taken
	pi     uint16 // of the next work request
	done   uint16 // before it all is completed

	wrs   []posted // power of two
	head  uint32
	tail  uint32
	Quiet int // work requests since the last signaled one

	// Frozen: the queue pair is lost. What completes gives its memory and its room in the completion queue back as ever,
	// but there is no room for more.
	Frozen bool
	Late   int // completions that ended nothing: there should be none
}

// posted is one work request in the ring.
type posted struct {
	at     uint16 // its first block
	blocks uint16
	bufs   [2]*transport.Buffer // held until it ends
	frame  uint64               // data frames before this number are in it or before it
	read   uint32               // bytes of a READ; 0: it is none
}

// Ended is what ended with a completion.
type Ended struct {
	N     int    // work requests
	Frame uint64 // the device has let go of the data frames before this number
	Reads int    // READs among them, and their bytes
	Bytes int
}

// NewRing makes one for so many blocks and work requests (a power of two), whose indices begin at at.
func NewRing(blocks, wrs int, at uint16) Ring {
	return Ring{Blocks: uint16(blocks), wrs: make([]posted, wrs), pi: at, done: at}
}

// Len is the number of work requests that are under way.
func (r *Ring) Len() int { return int(r.tail - r.head) }

// Next is the place in wrs of the next one: its header stands at the same place.
func (r *Ring) Next() int { return int(r.tail & uint32(len(r.wrs)-1)) }

// Room says whether a work request of so many blocks may be posted.
func (r *Ring) Room(blocks int) bool {
	return !r.Frozen && r.Len() < len(r.wrs) && int(r.pi-r.done)+blocks <= int(r.Blocks)
}

// Post takes a work request in and returns its index. Its buffers get a holder more.
func (r *Ring) Post(blocks int, frame uint64, signaled bool, bufs ...*transport.Buffer) uint16 {
	if !r.Room(blocks) {
		panic("queue: a work request without room in the Ring")
	}
	p := &r.wrs[r.Next()]
	*p = posted{at: r.pi, blocks: uint16(blocks), frame: frame}
	for i, b := range bufs {
		b.Retain()
		p.bufs[i] = b
	}
	r.tail++
	r.pi += uint16(blocks)
	if r.Quiet++; signaled {
		r.Quiet = 0
	}
	return p.at
}

// Reads says that the work request that was posted last is a READ of so many bytes.
func (r *Ring) Reads(bytes int) { r.wrs[(r.tail-1)&uint32(len(r.wrs)-1)].read = uint32(bytes) }

// Complete ends the work request with this index and all before it. An index that is none ends nothing.
func (r *Ring) Complete(at uint16) (e Ended) {
	if uint16(at-r.done) >= r.pi-r.done {
		r.Late++
		return e
	}
	for r.head != r.tail {
		p := r.wrs[r.head&uint32(len(r.wrs)-1)]
		if int16(at-p.at) < 0 {
			break
		}
		e.Frame = p.frame
		r.pop(&e)
	}
	return e
}

// pop ends the first work request.
func (r *Ring) pop(e *Ended) {
	p := &r.wrs[r.head&uint32(len(r.wrs)-1)]
	for _, b := range p.bufs {
		if b != nil {
			b.Release()
		}
	}
	e.N++
	if p.read > 0 {
		e.Reads++
		e.Bytes += int(p.read)
	}
	r.done = p.at + p.blocks
	*p = posted{}
	r.head++
}

// Drop ends all: the queue pair is destroyed, the device names nothing any more.
func (r *Ring) Drop() (e Ended) {
	r.Frozen = true
	for r.head != r.tail {
		r.pop(&e)
	}
	return e
}

// Reading is how many bytes the READs that are under way read. For tests.
func (r *Ring) Reading() (n int) {
	for k := r.head; k != r.tail; k++ {
		n += int(r.wrs[k&uint32(len(r.wrs)-1)].read)
	}
	return n
}

// Wrong says which invariant does not hold; "" is none. For tests.
func (r *Ring) Wrong() string {
	blocks := 0
	for k := r.head; k != r.tail; k++ {
		blocks += int(r.wrs[k&uint32(len(r.wrs)-1)].blocks)
	}
	switch {
	case int(r.pi-r.done) != blocks || blocks > int(r.Blocks):
		return fmt.Sprintf("pi %d, done %d, %d blocks are under way, of %d", r.pi, r.done, blocks, r.Blocks)
	case r.Late > 0:
		return fmt.Sprintf("%d completions ended nothing", r.Late)
	}
	return ""
}
