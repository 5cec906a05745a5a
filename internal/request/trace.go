package request

import (
	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// Trace is how an operation has gone so far, for its user to ask.
type Trace struct {
	Posts uint32 // frames
	Again uint32 // of them, those that were posted anew since a lane was lost
	Lanes [4]wire.Instance
	On    uint8 // lanes; the first of them are in Lanes

	Mapped   bool // copied in the peer's memory from here
	ZeroCopy bool // a frame was sent from where the payload stands
}

// Went notes a frame that was posted on a lane.
func (t *Trace) Went(on wire.Instance, f *transport.Frame) {
	t.Posts++
	t.ZeroCopy = t.ZeroCopy || f.ZeroCopy
	t.on(on)
}

// Came notes a frame of the peer's that was asked for.
func (t *Trace) Came(on wire.Instance) {
	t.Posts++
	t.on(on)
}

func (t *Trace) on(l wire.Instance) {
	n := min(int(t.On), len(t.Lanes))
	for i := range n {
		if t.Lanes[i] == l {
			return
		}
	}
	if n < len(t.Lanes) {
		t.Lanes[n] = l
	}
	t.On = uint8(n + 1)
}

// Replayed notes that a frame was posted anew. Of what has no request nobody asks.
func (r *Request) Replayed(on wire.Instance) {
	if r != nil {
		r.Trace.Again++
		r.Trace.on(on)
	}
}

// Moved is how many bytes of payload are in frames, or were asked for, or copied from here; of a tagged message that one asks for, and of a receive, all.
func (r *Request) Moved() uint64 { return max(r.Posted, r.Size) }

// Moves says whether it is of the kind that has a way.
func (r *Request) Moves() bool {
	switch r.Kind {
	case Put, Get, AM, Atomic, Receive:
		return true
	case None, Flush, Close, Dial, Accept, Room:
	}
	return false
}

// Protocol is the one that it goes by.
func (r *Request) Protocol() cost.Protocol {
	t := &r.Trace
	switch {
	case t.Mapped:
		return cost.Mapped
	case r.Room || r.Kind == Receive && r.Put:
		return cost.Cleared
	case r.Kind == AM && r.Size > 0 || r.Kind == Receive && t.Posts > 0: // one offers, the other asks
		return cost.Rendezvous
	case r.Fetches() && r.Kind != Receive:
		return cost.Asked
	case r.Part > 0:
		return cost.Striped
	case t.Posts > 1 && t.On > 1 && r.Kind == Put:
		return cost.Spread
	case t.Posts > 1:
		return cost.Frames
	case t.ZeroCopy:
		return cost.ZeroCopy
	}
	return cost.Copied
}

// End is how an operation ended that has no request, since it ended when it was posted.
type End struct {
	Err      error // it was not posted
	Protocol cost.Protocol
	Trace
}

// Once is that of the operation that was posted last.
type Once struct {
	*End
	Bytes uint64
}

// Mapped is the end of what was done in memory that is mapped; OnLane that of what left in one frame.
var Mapped = &End{Protocol: cost.Mapped}

func OnLane(l wire.Instance) (e End) {
	e.Protocol, e.Posts = cost.Copied, 1
	e.on(l)
	return e
}
