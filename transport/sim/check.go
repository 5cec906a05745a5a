package sim

import (
	"fmt"
	"time"
)

// What is the kind of a traced event.
type What uint8

const (
	Dialed      What = iota // a dial began
	Established             // it reached a listener: N is the peer's id
	Connected               // the dialer was told
	Accepted                // the listener's owner was told
	Refused                 // nobody there
	PostedData              // N: index, Size: bytes
	PostedControl
	WentOut       // a data frame left the device: N: index
	TookData      // accepted: N: index
	TookControl   // read
	DroppedData   // arrived after Quiesce: N: index
	Acknowledged  // N: position
	Broke         // N: items that may still arrive, Size: direction
	Failed        // OnError
	QuiescedThere // N: position
	PurgedThere   // N: position given
	CanceledThere
	ClosedThere
)

var whatNames = [...]string{"dial", "established", "connected", "accepted", "refused", "post", "post control", "out",
	"take", "take control", "drop", "acked", "broke", "error", "quiesce", "purge", "cancel", "close"}

func (w What) String() string { return whatNames[w] }

// Event is one thing that happened at one endpoint, for transcripts.
type Event struct {
	At            time.Duration
	What          What
	Endpoint      uint32
	Local, Remote string
	N             uint64
	Size          int
}

func (e Event) String() string {
	return fmt.Sprintf("%12v %s>%s #%d %v %d (%d)", e.At, e.Local, e.Remote, e.Endpoint, e.What, e.N, e.Size)
}

// note mixes what happened into the hash and tells the trace.
func (n *Net) note(w What, ep *endpoint, arg uint64, size int) {
	h := n.hash ^ uint64(n.now) ^ uint64(w)<<56 ^ uint64(ep.id)<<40
	h = (h ^ arg) * 0x9fb21c651e98df25
	h ^= h >> 31
	n.hash = (h ^ uint64(size)) * 0x9e3779b97f4a7c15
	if n.cfg.Trace != nil {
		n.cfg.Trace(Event{n.now, w, ep.id, ep.local, ep.remote, arg, size})
	}
}

// Counters are what is alive. At idle, with everything closed, all are zero.
type Counters struct {
	Endpoints, Listeners int
	Buffers              int // handed out by the network: retained, in flight, or kept by a receiver
	Outstanding          int // entries in senders' books
}

// Open counts what is alive.
func (n *Net) Open() Counters {
	c := Counters{Endpoints: len(n.endpoints), Listeners: len(n.listeners)}
	for _, ep := range n.endpoints {
		c.Outstanding += ep.led.Len()
	}
	n.pool.mu.Lock()
	c.Buffers = n.pool.out
	n.pool.mu.Unlock()
	return c
}

// Violations are mistakes of the posters that the network saw, the oldest first.
func (n *Net) Violations() []string { return n.found }

func (n *Net) violation(format string, args ...any) {
	if len(n.found) < 100 {
		n.found = append(n.found, fmt.Sprintf(format, args...))
	}
}

// remember keeps the checksum of a zero-copy payload from Post on.
func (ep *endpoint) remember(index uint64, payload []byte) {
	if old := ep.sums; ep.led.Len() > len(old) { // the books grew
		size := 64
		for size < ep.led.Len() {
			size *= 2
		}
		ep.sums = make([]uint64, size)
		for i := ep.led.Acked(); len(old) > 0 && i < index; i++ {
			ep.sums[i&uint64(size-1)] = old[i&uint64(len(old)-1)]
		}
	}
	ep.sums[index&uint64(len(ep.sums)-1)] = checksum(index, payload)
}

// unchanged looks at the zero-copy payloads of the frames before end that are about to be given back.
func (ep *endpoint) unchanged(end uint64) {
	for i := ep.led.Acked(); i < end; i++ {
		ep.same(i)
	}
}

func (ep *endpoint) same(i uint64) {
	e := ep.led.At(i)
	if e.Unsent && ep.sums[i&uint64(len(ep.sums)-1)] != checksum(i, e.Payload) {
		ep.net.violation("%s>%s #%d: the zero-copy payload of frame %d (id %d, tag %d) changed between Post and Sent",
			ep.local, ep.remote, ep.id, i, e.ID, e.Tag)
	}
}
