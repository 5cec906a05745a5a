package cost

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/wire"
)

// Op is an operation, as its user posts it.
type Op uint8

const (
	AM    Op = iota
	Offer    // an active message whose handler may say where its payload goes
	Tag
	TagSync
	Put
	Get
	Stream
	Atomic      // a change of a word of 4 or 8 bytes
	AtomicFetch // with what it was before
	Ops         // how many there are
)

func (o Op) String() string {
	return [...]string{"am_send", "am_offer", "tag_send", "tag_send_sync", "put", "get", "stream_send", "atomic", "atomic_fetch"}[o]
}

// Protocol is how an operation is carried out.
type Protocol uint8

const (
	Copied     Protocol = iota // copied into one frame, at once
	ZeroCopy                   // one frame, sent from where it stands
	Frames                     // several frames, one behind the other
	Spread                     // several frames, each on the lane where it is soonest acknowledged
	Striped                    // in parts over all lanes, then closed on the order lane when they are acknowledged
	Rendezvous                 // offered; the receiver gets it
	Cleared                    // offered; the receiver says where he has room, and the sender puts it
	Asked                      // asked for in pieces, each of which the peer answers
	Mapped                     // copied from here, in memory of the peer's that is mapped
	Parcels                    // copied into messages of 64 KiB, each as it is full
)

func (p Protocol) String() string {
	return [...]string{"eager copied", "eager zero-copy", "eager fragments", "spread frames", "striped parts", "rendezvous by get", "rendezvous by put", "request and answer", "direct copy", "eager parcels"}[p]
}

// Model is the lanes of an endpoint and what is done on them.
type Model struct {
	Lanes []Lane
	Bounds
	Thresholds
}

// Choice is what becomes of an operation.
type Choice struct {
	Protocol Protocol
	Lanes    []int         // indices into the model's
	Frames   int           // that carry it, of both sides; answers that say only that it is over are none
	Latency  time.Duration // from the post until it is there, on lanes with nothing under way
	Rate     float64       // bytes per second, if many are under way; 0 of nothing
}

// Memory is what the peer's memory is, where that makes a difference.
type Memory uint8

const (
	Plain Memory = iota // that makes no difference
	Lent                // of its Node.Alloc, on this host
	Other               // beside such
)

// Sizes that package stream goes by, and that a test of it holds against them.
const (
	Parcel     = 64 << 10  // what is written is copied into messages of this size
	StreamLend = 256 << 10 // from here it is sent from where it stands,
	StreamMost = 1 << 20   // in messages of this size
)

// frame is a kind of frame: bytes of its head.
const (
	headAM    = wire.AMSize
	headTag   = wire.AMSize + wire.TaggedSize
	headSync  = wire.AMSize + wire.TaggedSize + 8
	headPut   = wire.PutSize
	headGet   = wire.GetDataSize // and of a TagPut
	headFirst = wire.AMFirstSize
	headFrag  = wire.AMFragSize
	headPart  = wire.AMPartSize
)

// At is what becomes of an operation of n bytes; ok is false if there is no lane, or it can't be posted.
func (m *Model) At(op Op, n int, mem Memory) (c Choice, ok bool) {
	if len(m.Lanes) == 0 || m.MaxFrame == 0 || n < 0 {
		return c, false
	}
	switch op {
	case AM:
		return m.message(n, headAM)
	case Offer, Tag, TagSync:
		return m.offered(op, n)
	case Put:
		if mem == Lent {
			return m.mapped(n), true
		}
		return m.put(n), true
	case Get:
		if mem == Lent {
			return m.mapped(n), true
		}
		c = m.over(n, pieces(n, m.MaxFrame-headGet), Asked)
		c.Latency += m.half(c.Lanes[0])
		return c, true
	case Stream:
		return m.stream(n)
	case Atomic, AtomicFetch:
		return m.atomic(op, n, mem), n == 4 || n == 8
	case Ops:
	}
	return c, false
}

// message is one with an order, and a head of so many bytes.
func (m *Model) message(n, head int) (Choice, bool) {
	if uint64(n) > m.MaxMessage {
		return Choice{}, false
	}
	switch {
	case head+n <= m.MaxFrame && m.copied(head+n):
		return m.on(m.orderLane(), n, 1, Copied), true
	case len(m.Lanes) > 1 && n >= m.Stripe:
		part := min(m.MaxFrame-headPart, max(m.Part, n/(2*len(m.Lanes))))
		c := m.over(n, pieces(n, part)+1, Striped)
		c.Latency += 2 * m.half(c.Lanes[0]) // acknowledged, then closed
		return c, true
	case head+n <= m.MaxFrame:
		p := Copied
		if m.ZeroCopy > 0 && n >= m.ZeroCopy {
			p = ZeroCopy
		}
		return m.on(m.orderLane(), n, 1, p), true
	}
	first := m.MaxFrame - headFirst - (head - headAM)
	return m.on(m.orderLane(), n, 1+pieces(n-first, m.MaxFrame-headFrag), Frames), true
}

// copied says whether a frame is copied at once, without a request.
func (m *Model) copied(frame int) bool { return m.ZeroCopy == 0 || frame < m.ZeroCopy }

// offered is what goes at once if it is small, and is offered else.
func (m *Model) offered(op Op, n int) (c Choice, ok bool) {
	if n > m.Eager {
		c = m.over(n, 1+pieces(n, m.MaxFrame-headGet), m.offers(n))
		c.Latency += 2*m.half(m.orderLane()) + Lending
		return c, true
	}
	head := headAM
	if op == Tag {
		head = headTag
	} else if op == TagSync {
		head = headSync
	}
	if c, ok = m.message(n, head); ok && op == TagSync {
		c.Latency += m.half(m.orderLane()) // the note
	}
	return c, ok
}

// offers is how the payload of what is offered comes to its receiver.
func (m *Model) offers(n int) Protocol {
	if m.Put > 0 && n >= m.Put {
		return Cleared
	}
	return Rendezvous
}

func (m *Model) put(n int) Choice {
	switch f := pieces(n, m.MaxFrame-headPut); {
	case f > 1 && len(m.Lanes) == 1:
		return m.on(0, n, f, Frames)
	case f > 1:
		return m.over(n, f, Spread)
	case m.copied(headPut+n) || m.ZeroCopy == 0 || n < m.ZeroCopy:
		return m.on(m.soonest(n), n, 1, Copied)
	default:
		return m.on(m.soonest(n), n, 1, ZeroCopy)
	}
}

// atomic is a frame whose head says it all, and, where that is asked for, an answer with the word.
func (m *Model) atomic(op Op, n int, mem Memory) Choice {
	if mem == Lent {
		return m.mapped(n)
	}
	c := m.on(m.soonest(n), n, 1, Copied)
	if op == AtomicFetch {
		c.Protocol = Asked
		c.Latency += m.half(c.Lanes[0])
	}
	return c
}

func (m *Model) mapped(n int) Choice {
	at := slices.IndexFunc(m.Lanes, func(l Lane) bool { return l.Direct })
	if at < 0 {
		return m.put(n)
	}
	d := float64(n)*Direct + float64(Mapping) // there and back are one: who posts copies, and nobody answers
	return Choice{Protocol: Mapped, Lanes: []int{at}, Latency: time.Duration(d), Rate: float64(n) * 1e9 / d}
}

func (m *Model) stream(n int) (Choice, bool) {
	size := n
	switch {
	case n < Parcel:
	case n < StreamLend:
		size = Parcel
	default:
		size = min(n, StreamMost)
	}
	size = min(size, int(max(1, min(m.MaxMessage, StreamMost))))
	c, ok := m.message(size, headAM)
	if ok && n > size {
		k := pieces(n, size)
		c.Frames *= k
		c.Latency += time.Duration(float64(n-size) * 1e9 / c.Rate)
	}
	if ok && n >= Parcel && n < StreamLend {
		c.Protocol = Parcels
	}
	return c, ok
}

// on is one lane.
func (m *Model) on(i, n, frames int, p Protocol) Choice {
	l := &m.Lanes[i]
	busy := float64(n)*1e9/l.Rate + float64(frames-1)*l.frame()
	return Choice{Protocol: p, Lanes: []int{i}, Frames: frames, Latency: m.half(i) + time.Duration(busy), Rate: rate(n, busy+l.frame())}
}

// over is all lanes, as many as there are frames for; the slowest trip stands first.
func (m *Model) over(n, frames int, p Protocol) Choice {
	if frames == 1 {
		return m.on(m.soonest(n), n, 1, p)
	}
	c := Choice{Protocol: p, Frames: frames}
	var sum, trip, own float64
	for i := range m.Lanes {
		l := &m.Lanes[i]
		sum, own = sum+l.Rate, max(own, l.frame())
		if c.Lanes = append(c.Lanes, i); l.trip() > trip {
			trip, c.Lanes[0], c.Lanes[i] = l.trip(), i, c.Lanes[0]
		}
	}
	k := float64(len(c.Lanes))
	busy := float64(n)*1e9/sum + max(0, float64(frames)-k)*own/k
	c.Latency, c.Rate = m.half(c.Lanes[0])+time.Duration(busy), rate(n, busy+own)
	return c
}

func rate(n int, ns float64) float64 { return float64(n) * 1e9 / ns }

// half is the way there.
func (m *Model) half(i int) time.Duration { return time.Duration(m.Lanes[i].trip() / 2) }

func (m *Model) orderLane() int { return order(m.Lanes) }

// soonest is where so many bytes are there first.
func (m *Model) soonest(n int) int {
	at := func(i int) float64 { return m.Lanes[i].trip()/2 + float64(n)*1e9/m.Lanes[i].Rate }
	best := 0
	for i := range m.Lanes {
		if at(i) < at(best) {
			best = i
		}
	}
	return best
}

func pieces(n, each int) int { return max(1, (n+each-1)/each) }

// Range is sizes that are carried out alike.
type Range struct {
	From, To int // bytes, both included; To is math.MaxInt where there is no largest
	First    Choice
	Last     Choice // of the largest; where there is none, of 64 MiB or twice the first
}

// Ranges are all sizes of an operation, ascending; none without a lane.
func (m *Model) Ranges(op Op, mem Memory) iter.Seq[Range] {
	return func(yield func(Range) bool) {
		cuts := m.cuts(op)
		for i := 0; i < len(cuts); {
			from := cuts[i]
			first, ok := m.At(op, from, mem)
			if !ok { // there is none of this size; of atomic ones there may be larger ones
				i++
				continue
			}
			for i++; i < len(cuts); i++ {
				if c, ok := m.At(op, cuts[i], mem); !ok || !alike(c, first) {
					break
				}
			}
			r := Range{From: from, To: math.MaxInt, First: first}
			last := max(64<<20, 2*from)
			if i < len(cuts) {
				r.To = cuts[i] - 1
				last = r.To
			}
			r.Last, _ = m.At(op, last, mem)
			if !yield(r) {
				return
			}
		}
	}
}

func alike(a, b Choice) bool {
	x, y := slices.Sorted(slices.Values(a.Lanes)), slices.Sorted(slices.Values(b.Lanes))
	return a.Protocol == b.Protocol && slices.Equal(x, y)
}

// cuts are the sizes at which something may change, ascending, 0 first.
func (m *Model) cuts(op Op) []int {
	if op == Atomic || op == AtomicFetch {
		return []int{4, 5, 8, 9}
	}
	at := []int{0, m.Eager + 1, m.Put, m.Stripe, m.ZeroCopy, Parcel, StreamLend}
	for _, head := range []int{headAM, headTag, headSync, headPut, headGet} {
		at = append(at, m.ZeroCopy-head, m.MaxFrame-head+1)
	}
	if m.MaxMessage < math.MaxInt {
		at = append(at, int(m.MaxMessage)+1)
	}
	for i := range m.Lanes { // where one lane is sooner than another one
		for j := range m.Lanes {
			a, b := &m.Lanes[i], &m.Lanes[j]
			if n := (b.trip() - a.trip()) / 2 / (1e9/a.Rate - 1e9/b.Rate); n >= 0 && n < float64(m.MaxFrame) {
				at = append(at, int(n)-1, int(n), int(n)+1, int(n)+2) // as it is rounded
			}
		}
	}
	slices.Sort(at)
	at = slices.DeleteFunc(slices.Compact(at), func(n int) bool { return n < 0 })
	return at
}
