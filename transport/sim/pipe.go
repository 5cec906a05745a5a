package sim

import (
	"time"

	"github.com/openbraid/braid/transport"
)

// never is a time that doesn't come.
const never = time.Duration(1<<63 - 1)

// itemKind is what one item on the wire is.
type itemKind uint8

const (
	itemData itemKind = iota
	itemControl
	itemAck // an acknowledgement alone, or a request for one
)

// item is one thing in flight.
type item struct {
	kind        itemKind
	id          uint8
	ackNow      bool
	asked       bool          // Place was asked
	first, last time.Duration // head and all of it can be seen from then on
	index       uint64        // of a data frame
	ack         uint64        // the other direction's position
	buf         *transport.Buffer
	head, size  int    // bytes of head; of head and payload
	place       []byte // memory that the receiver gave
	filled      int    // bytes of place
}

func (it *item) payload() int { return it.size - it.head }

// pipe is one direction of a connection: first in, first out.
type pipe struct {
	link *Link
	ring []item // power of two
	head uint64 // of the oldest item
	tail uint64

	last   time.Duration // when the youngest item can be seen
	busy   time.Duration // until when the device is sending
	broken bool          // takes nothing in any more
	silent bool          // not even the end of the connection gets through
}

func (p *pipe) len() int { return int(p.tail - p.head) }

func (p *pipe) front() *item { return &p.ring[p.head&uint64(len(p.ring)-1)] }

func (p *pipe) back() *item { return &p.ring[(p.tail-1)&uint64(len(p.ring)-1)] }

func (p *pipe) push(it item) {
	if p.len() == len(p.ring) {
		ring := make([]item, max(16, 2*len(p.ring)))
		for i := p.head; i < p.tail; i++ {
			ring[i&uint64(len(ring)-1)] = p.ring[i&uint64(len(p.ring)-1)]
		}
		p.ring = ring
	}
	p.tail++
	*p.back() = it
}

// pop takes the oldest item out; its buffer is the caller's.
func (p *pipe) pop() item {
	it := *p.front()
	*p.front() = item{}
	p.head++
	return it
}

// keep drops all but the oldest n items.
func (p *pipe) keep(n int) {
	for p.len() > n {
		if b := p.back().buf; b != nil {
			b.Release()
		}
		*p.back() = item{}
		p.tail--
	}
}

// breakOff ends the direction. Of what is in flight a prefix may still arrive, and of the
// frame after it perhaps a part.
func (n *Net) breakOff(ep *endpoint, silent bool) {
	p := &ep.out
	p.silent = p.silent || silent
	if p.broken {
		return
	}
	p.broken = true
	k := n.luck.below(p.len() + 1)
	if n.maybe(2) {
		k = p.len()
	}
	if torn := k < p.len(); torn {
		p.keep(k + 1)
		if it := p.back(); it.kind == itemData && it.payload() >= n.cfg.PlaceFrom {
			it.last = never
		} else {
			p.keep(k)
		}
	}
	n.note(Broke, ep, uint64(p.len()), 0)
}

// send puts an item on the wire, or into the void.
func (n *Net) send(ep *endpoint, it item) {
	p := &ep.out
	if p.broken || ep.peer == nil || ep.peer.life == closed {
		if it.buf != nil {
			it.buf.Release()
		}
		return
	}
	start := max(n.now, p.busy)
	if r := p.link.BytesPerSecond; r > 0 {
		p.busy = start + time.Duration(int64(it.size+32)*int64(time.Second)/r)
		start = p.busy
	}
	it.first = max(p.last, start+n.delay(p.link))
	if !n.cfg.Calm && n.luck.oneIn(3) { // as a device that interrupts once for several
		const grid = 8 * time.Microsecond
		it.first = (it.first + grid - 1) / grid * grid
	}
	it.last = it.first
	if it.payload() >= n.cfg.PlaceFrom && it.kind == itemData && !n.cfg.Calm {
		it.last += n.luck.upTo(20 * time.Microsecond)
	}
	if n.cfg.Steered {
		it.first, it.last = never, never
		p.push(it)
		return
	}
	if it.first != p.last {
		n.wakeAt(it.first, ep.peer)
	}
	if it.last != it.first {
		n.wakeAt(it.first+(it.last-it.first)/2, ep.peer)
		n.wakeAt(it.last, ep.peer)
	}
	p.last = it.last
	p.push(it)
}
