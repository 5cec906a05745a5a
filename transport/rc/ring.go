package rc

import "github.com/openbraid/braid/transport"

// ring are the books of one queue pair's send ring. Blocks have 16-bit indices that run on and wrap.
//
//	done                    pi
//	  v                      v
//	..[ w | w | w* | w | w* ]....     post at the right, complete at the left
//	                 ^ signaled: its completion ends the ones before it too
//
// Invariants, at every step: pi - done = the blocks of the work requests in it ≤ blocks; each one leaves once.
type ring struct {
	blocks uint16 // that may be taken
	pi     uint16 // of the next work request
	done   uint16 // before it all is completed

	wrs   []posted // power of two
	head  uint32
	tail  uint32
	quiet int // work requests since the last signaled one

	// frozen: the queue pair is lost. What completes gives its memory and its room in the completion queue back as ever,
	// but there is no room for more.
	frozen bool
	late   int // completions that ended nothing: there should be none
}

// posted is one work request in the ring.
type posted struct {
	at     uint16 // its first block
	blocks uint16
	bufs   [2]*transport.Buffer // held until it ends
	frame  uint64               // data frames before this number are in it or before it
}

func newRing(blocks, wrs int, at uint16) ring {
	return ring{blocks: uint16(blocks), wrs: make([]posted, wrs), pi: at, done: at}
}

// len is the number of work requests that are under way.
func (r *ring) len() int { return int(r.tail - r.head) }

// next is the place in wrs of the next one: its header stands at the same place.
func (r *ring) next() int { return int(r.tail & uint32(len(r.wrs)-1)) }

// room says whether a work request of so many blocks may be posted.
func (r *ring) room(blocks int) bool {
	return !r.frozen && r.len() < len(r.wrs) && int(r.pi-r.done)+blocks <= int(r.blocks)
}

// post takes a work request in and returns its index. Its buffers get a holder more.
func (r *ring) post(blocks int, frame uint64, signaled bool, bufs ...*transport.Buffer) uint16 {
	if !r.room(blocks) {
		panic("rc: a work request without room in the ring")
	}
	p := &r.wrs[r.next()]
	*p = posted{at: r.pi, blocks: uint16(blocks), frame: frame}
	for i, b := range bufs {
		b.Retain()
		p.bufs[i] = b
	}
	r.tail++
	r.pi += uint16(blocks)
	if r.quiet++; signaled {
		r.quiet = 0
	}
	return p.at
}

// complete ends the work request with this index and all before it, and returns how many that were, and up to which frame
// the device has let go. An index that is none ends nothing.
func (r *ring) complete(at uint16) (n int, frame uint64) {
	if uint16(at-r.done) >= r.pi-r.done {
		r.late++
		return 0, 0
	}
	for r.head != r.tail {
		p := r.wrs[r.head&uint32(len(r.wrs)-1)]
		if int16(at-p.at) < 0 {
			break
		}
		frame = p.frame
		r.pop()
		n++
	}
	return n, frame
}

// pop ends the first work request.
func (r *ring) pop() {
	p := &r.wrs[r.head&uint32(len(r.wrs)-1)]
	for _, b := range p.bufs {
		if b != nil {
			b.Release()
		}
	}
	r.done = p.at + p.blocks
	*p = posted{}
	r.head++
}

// drop ends all: the queue pair is destroyed, the device names nothing any more.
func (r *ring) drop() (n int) {
	r.frozen = true
	for n = r.len(); r.head != r.tail; {
		r.pop()
	}
	return n
}
