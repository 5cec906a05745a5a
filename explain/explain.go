package explain

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/family"
	"github.com/openbraid/braid/internal/inspect"
	"github.com/openbraid/braid/internal/outbox"
)

// Op is a kind of operation, for Explanation.
type Op uint8

const (
	AM      = Op(cost.AM)          // SendAM
	Offer   = Op(cost.Offer)       // OfferAM
	Tag     = Op(cost.Tag)         // SendTag
	TagSync = Op(cost.TagSync)     // SendTagSync
	Put     = Op(cost.Put)         // Put
	Get     = Op(cost.Get)         // Get
	Stream  = Op(cost.Stream)      // Write of a stream.Conn
	Atomic  = Op(cost.Atomic)      // Add, And, Or and Xor of a Word
	Fetch   = Op(cost.AtomicFetch) // FetchAdd, FetchAnd, FetchOr, FetchXor, Swap and CompareSwap
)

func (o Op) String() string { return cost.Op(o).String() }

// Ops are all kinds.
func Ops() []Op { return []Op{AM, Offer, Tag, TagSync, Put, Get, Stream, Atomic, Fetch} }

// Explanation is how an endpoint carries its operations, as it stood when it was asked for: which lanes do what, why others don't, and what becomes
// of an operation by its size. docs/explain.md tells how that is chosen.
//
// Source: ucp_ep_print_info, UCX_PROTO_INFO.
type Explanation struct {
	Peer, Name string // its address, and what it calls itself
	State      string
	Lanes      []Lane
	Unused     []Unused // of the side that dialed
	Exchange   []string // about lost lanes: who waits for what

	ZeroCopy int // bytes from which a payload is sent from where it stands; 0: never
	Eager    int // bytes up to which a message that may be offered, one with a tag for instance, is sent at once
	Stripe   int // bytes from which a message goes over several lanes, if no other one is under way;
	Busy     int // while others are

	model cost.Model
}

// Lane is a lane, and what it is for.
type Lane struct {
	braid.Lane
	Roles     []string      // "order", "small operations", "share 62 %"; or why it has none
	RoundTrip time.Duration // measured; 0: not known
	Measured  bool          // Rate is declared or was measured, else it is a guess
}

// Unused is a way to the peer, or a rail of this host, without a lane.
type Unused struct{ Rail, Path, Why string }

// SizeRange is sizes of an operation that are carried out alike. Expected times are of lanes with nothing under way, rates of many operations at a time.
type SizeRange struct {
	From, To       int    // bytes, both included; To is math.MaxInt where there is no largest
	Memory         string // what the range holds for, where the peer's memory makes a difference: "lent" (of its Node.Alloc, on this host) or "other"
	Protocol       string
	Lanes          []string      // instances
	Frames, Latest int           // that carry it: of the smallest, of the largest
	Latency, Upto  time.Duration // until it is there: the smallest, the largest
	Rate           float64       // bytes per second, of the largest; where there is none, of 64 MiB
}

// engine is an endpoint, below the public one.
type engine interface {
	Inspect() inspect.Endpoint
	Box() *outbox.Box
}

// Of says how the endpoint carries operations now. Of one of an Owned worker it is for the worker's owner.
func Of(ep *braid.Endpoint) (x Explanation) {
	lanes := ep.Lanes()
	family.Braid.Look(ep, func(e any) { x.take(e.(engine)) })
	for _, l := range lanes {
		e := Lane{Lane: l}
		at := slices.IndexFunc(x.model.Lanes, func(m cost.Lane) bool { return m.ID.String() == l.Instance })
		if e.Roles = x.model.Roles(at); at >= 0 {
			e.RoundTrip, e.Measured = x.model.Lanes[at].Trip, x.model.Lanes[at].Known
		} else if l.State == "up" {
			e.Roles = []string{"kept for when no lane within this host is left"}
		}
		x.Lanes = append(x.Lanes, e)
	}
	return x
}

// take is what the engine knows. Under the worker's lock.
func (x *Explanation) take(e engine) {
	d := e.Inspect()
	x.Peer, x.Name, x.State, x.Exchange = d.Peer, d.Name, d.State, d.Exchange
	x.model = e.Box().Explain()
	x.ZeroCopy, x.Eager, x.Stripe, x.Busy = x.model.ZeroCopy, x.model.Eager, x.model.Stripe, x.model.Busy
	for _, u := range d.Unused {
		x.Unused = append(x.Unused, Unused(u))
	}
}

// Sizes are all sizes of an operation, ascending, up to the largest that may be posted; none without a lane. Where the peer's memory makes a
// difference, all of lent memory come before all of other.
func (x *Explanation) Sizes(op Op) iter.Seq[SizeRange] {
	return func(yield func(SizeRange) bool) {
		for _, mem := range x.model.Memories(cost.Op(op)) {
			for r := range x.model.Ranges(cost.Op(op), mem) {
				s := SizeRange{From: r.From, To: r.To, Protocol: r.First.Protocol.String(), Frames: r.First.Frames, Latest: r.Last.Frames,
					Latency: r.First.Latency, Upto: r.Last.Latency, Rate: r.Last.Rate, Memory: mem.String()}
				for _, i := range r.First.Lanes {
					s.Lanes = append(s.Lanes, x.model.Lanes[i].ID.String())
				}
				slices.Sort(s.Lanes)
				if !yield(s) {
					return
				}
			}
		}
	}
}

// ParseOp reads what Op.String writes.
//
// Errors: that there is no such operation, with those there are.
func ParseOp(text string) (Op, error) {
	for _, o := range Ops() {
		if o.String() == text {
			return o, nil
		}
	}
	return 0, fmt.Errorf("no operation %q; there are %v", text, Ops())
}
