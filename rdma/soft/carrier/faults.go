package carrier

import (
	"time"

	"github.com/openbraid/braid/rdma/soft/packet"
)

// Rule is one kind of fault: which datagrams it is about, and what becomes of them.
type Rule struct {
	// QP is the destination's number, Opcode the packet's: nil for any.
	QP     *uint32
	Opcode *packet.Opcode
	// Share is the part of them that it hits, from 0 to 1. After lets so many pass first, Count hits so many at most (0: no limit).
	Share        float64
	After, Count int

	Drop    bool
	Double  bool
	Corrupt bool          // one bit, where it arrives
	Delay   time.Duration // up to this much, so that others overtake it
}

// Faults is a carrier that loses, doubles, delays and spoils what is sent through another, by rules and from a seed.
// Rules are tried in order; the first that hits is the only one.
type Faults struct {
	Carrier
	now   func() time.Duration
	rand  func() uint64
	rules []*rule
	cut   bool
	late  Late[*Kept]
	batch []Out
	hits  int
}

type rule struct {
	Rule
	seen, hit int
}

// WithFaults puts rules in front of a carrier. Time and luck are handed in.
func WithFaults(c Carrier, now func() time.Duration, rand func() uint64, rules ...Rule) *Faults {
	f := &Faults{Carrier: c, now: now, rand: rand}
	f.SetRules(rules...)
	return f
}

// SetRules replaces the rules. What was delayed stays delayed.
func (f *Faults) SetRules(rules ...Rule) {
	f.rules = nil
	for _, r := range rules {
		f.rules = append(f.rules, &rule{Rule: r})
	}
}

// Cut loses everything, in both directions, until Mend.
func (f *Faults) Cut() { f.cut = true }

// Mend ends a cut.
func (f *Faults) Mend() { f.cut = false }

// Hits is how many datagrams a rule or a cut has hit: a test whose faults never happen proves nothing.
func (f *Faults) Hits() int { return f.hits }

// Send implements Carrier.
func (f *Faults) Send(batch []Out) int {
	f.release()
	f.batch = f.batch[:0]
	for _, o := range batch {
		f.one(o)
	}
	// What the carrier below has no room for is lost: that is a fault, too.
	f.Carrier.Send(f.batch)
	clear(f.batch)
	return len(batch)
}

// one decides about one datagram.
func (f *Faults) one(o Out) {
	if f.cut {
		f.hits++
		return
	}
	if r := f.hit(o.Data, false); r != nil {
		f.apply(r, o)
		return
	}
	f.batch = append(f.batch, o)
}

// hit is the rule that hits a datagram, among those about what arrives or those about what is sent.
func (f *Faults) hit(b []byte, arrives bool) *rule {
	for _, r := range f.rules {
		if r.Corrupt != arrives || !r.match(b) {
			continue
		}
		r.seen++
		if r.seen <= r.After || r.Count > 0 && r.hit >= r.Count || !f.chance(r.Share) {
			continue
		}
		r.hit++
		f.hits++
		return r
	}
	return nil
}

func (f *Faults) apply(r *rule, o Out) {
	switch {
	case r.Drop:
	case r.Delay > 0:
		at := f.now() + time.Duration(f.rand()%uint64(r.Delay)) + 1
		f.late.Add(at, Keep(o))
	case r.Double:
		f.batch = append(f.batch, o, o)
	default:
		f.batch = append(f.batch, o)
	}
}

func (r *rule) match(b []byte) bool {
	if r.Opcode != nil && packet.Opcode(b[0]) != *r.Opcode {
		return false
	}
	return r.QP == nil || uint32(b[5])<<16|uint32(b[6])<<8|uint32(b[7]) == *r.QP
}

func (f *Faults) chance(share float64) bool {
	return share >= 1 || float64(f.rand()>>11)/(1<<53) < share
}

// release sends what is due.
func (f *Faults) release() {
	for k, ok := f.late.Take(f.now()); ok; k, ok = f.late.Take(f.now()) {
		if !f.cut {
			f.Carrier.Send([]Out{k.Out()})
		}
	}
}

// Recv implements Carrier.
func (f *Faults) Recv(batch []In) int {
	f.release()
	n := f.Carrier.Recv(batch)
	if f.cut {
		f.hits += n
		return 0
	}
	for _, in := range batch[:n] {
		if len(in.Data) > 8 && f.hit(in.Data, true) != nil {
			Spoil(in.Data, f.rand)
		}
	}
	return n
}

// Deadline implements Carrier.
func (f *Faults) Deadline() time.Duration { return f.late.Sooner(f.Carrier.Deadline()) }
