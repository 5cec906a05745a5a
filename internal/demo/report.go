package demo

import (
	"fmt"
	"time"
)

// Report is what the demo showed. Its JSON is part of the command's interface.
type Report struct {
	Bytes      uint64  `json:"bytes"`      // of data
	Operations uint64  `json:"operations"` // blocks, words and messages that arrived
	Lost       uint64  `json:"lost"`
	Doubled    uint64  `json:"doubled"`
	Equal      bool    `json:"digest_equal"`
	Seconds    float64 `json:"seconds"`
	Cuts       []Cut   `json:"cuts"`
	Lanes      []Lane  `json:"lanes"`

	Sender, Receiver Side     `json:"-"`
	Problems         []string `json:"-"` // why it is not OK
}

// Side is one side's count.
type Side struct {
	Blocks, Words, Messages, Bytes uint64
	SHA256                         string
}

// Cut is one lane that was lost.
type Cut struct {
	Lane       string  `json:"lane"`
	Kind       string  `json:"kind"`
	BlackoutMS float64 `json:"blackout_ms"` // until the last operation that was outstanding on it was executed; -1: never
	GapMS      float64 `json:"gap_ms"`      // longest time without any completion within a second
	BeforeMS   float64 `json:"-"`           // the same in the second before: what is usual here
	Replayed   uint64  `json:"replayed_bytes"`
	Needed     uint64  `json:"needed_bytes"` // posted by the sender, by its count, less accepted by the receiver, by its own
}

// Lane is one of the two.
type Lane struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"` // that the receiver accepted, over all lives of the lane
}

// OK says whether the demo showed what it should.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// report judges. Nothing is good unless it was seen to be.
func (b *book) report() *Report {
	s, c := b.sent, b.checked
	r := &Report{
		Bytes: c.Bytes, Operations: c.Blocks + c.Words + c.Messages, Lost: c.Lost, Doubled: c.Doubled,
		Equal: s.Digest == c.Digest && s.Digest != "", Seconds: float64((c.Ended - s.Started).Milliseconds()) / 1000,
		Sender:   Side{s.Blocks, s.Words, s.Messages, s.Bytes, s.Digest},
		Receiver: Side{c.Blocks, c.Words, c.Messages, c.Bytes, c.Digest},
	}
	of := b.bytes(c.Lanes)
	for i, n := range of {
		r.Lanes = append(r.Lanes, Lane{b.rails.Names[i], n})
	}
	if r.Lost > 0 {
		r.problem("%d operations were lost", r.Lost)
	}
	if r.Doubled > 0 {
		r.problem("%d operations were executed twice", r.Doubled)
	}
	if !r.Equal {
		r.problem("the data differs: SHA-256 %s sent, %s received", s.Digest, c.Digest)
	}
	r.Problems = append(append(r.Problems, s.Problems...), c.Problems...)
	b.judgeCuts(r)
	b.judgeBooks(r)
	return r
}

// judgeCuts finds out what each cut did.
func (b *book) judgeCuts(r *Report) {
	for i, p := range plans {
		if i >= len(b.cuts) {
			r.problem("the cut of %s by %v was not carried out", b.rails.Names[p.rail], p.kind)
			continue
		}
		c := b.cuts[i]
		x := Cut{Lane: b.rails.Names[c.Rail], Kind: c.Kind, BlackoutMS: -1, GapMS: -1}
		if c.Streams == 0 {
			r.problem("the injector had no effect: no connection was open on %s", x.Lane)
		}
		if i < min(len(b.checked.Gaps), len(b.checked.Before)) {
			x.GapMS, x.BeforeMS = milliseconds(b.checked.Gaps[i]), milliseconds(b.checked.Before[i])
		}
		b.judgeCut(r, &x, c)
		r.Cuts = append(r.Cuts, x)
	}
}

func (b *book) judgeCut(r *Report, x *Cut, c cutStamp) {
	down := find(b.sender, "LaneDown", func(e laneEvent) bool { return e.Rail == c.Rail && e.At >= c.At })
	if down == nil {
		r.problem("the injector had no effect: nobody noticed the cut of %s by %s", x.Lane, x.Kind)
		return
	}
	is := ofInstance(down.Instance)
	over, peerDown, peerOver := find(b.sender, "HandedOver", is), find(b.receiver, "LaneDown", is), find(b.receiver, "HandedOver", is)
	if over == nil || peerDown == nil || peerOver == nil {
		r.problem("%s was cut by %s and lane %s was not handed over by both sides", x.Lane, x.Kind, down.Instance)
		return
	}
	x.BlackoutMS = milliseconds(max(over.At, peerOver.At) - c.At)
	x.Replayed = over.Replayed
	if down.Posted < peerDown.Accepted {
		r.problem("lane %s: %d bytes were accepted of %d that were posted", down.Instance, peerDown.Accepted, down.Posted)
		return
	}
	x.Needed = down.Posted - peerDown.Accepted
}

// judgeBooks compares what the two engines say about each lane that was lost. In both directions the position
// that one stated is what the other went by.
func (b *book) judgeBooks(r *Report) {
	compare := func(one, other []laneEvent, who string) {
		for _, e := range one {
			if e.Kind != "HandedOver" {
				continue
			}
			switch down := find(other, "LaneDown", ofInstance(e.Instance)); {
			case down == nil:
				r.problem("lane %s: handed over at the %s, never lost at the other side", e.Instance, who)
			case down.Accepted != e.PeerAccepted:
				r.problem("lane %s: the %s went by %d bytes that its peer had accepted, the peer had accepted %d",
					e.Instance, who, e.PeerAccepted, down.Accepted)
			}
		}
	}
	compare(b.sender, b.receiver, "sender")
	compare(b.receiver, b.sender, "receiver")
}

// since is a time of the run for people.
func since(begun, at time.Duration) string { return fmt.Sprintf("%6.2f s", max(0, at-begun).Seconds()) }
