package worker

import (
	"time"

	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/order"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// Endpoint is one peer, reached over several lanes.
type Endpoint struct {
	w     *Worker
	id    uint64
	side  wire.Side
	state State
	err   error  // why it failed
	addr  string // of the peer, for people
	User  any    // the root package's endpoint

	peering
	lanes
	queues
	closing

	hand    *failover.Machine
	book    order.Book // operations that are not executed
	covered uint64     // operations issued up to the last flush that succeeded
	refused refusals
	parts   reassembly.Table
	stats   Stats
}

// peering is who is at the other end, and what was agreed with it.
type peering struct {
	names   failover.Names
	terms   wireup.Terms
	limits  protocol.Limits
	key     wire.JoinKey
	tellKey bool      // in the next answer to a hello
	ln      *Listener // of an accepted endpoint
	peer    string    // its name for itself
	nextID  uint64    // of a message of several frames
}

// lanes are what there is to post on.
type lanes struct {
	up       []*link // in the order in which they came up
	lost     []*link // until their record ends
	opening  []*link
	paths    []*path
	ordered  orderClass
	live     liveness
	dial     *request.Request // waits for the first lanes
	dialWait *timer
	suspend  *timer
	addrs    []string // still to be tried by a dial
	tried    []error  // why addresses and lanes did not work
}

// orderClass is the lane on which all unacknowledged frames with an order promise are.
type orderClass struct {
	lane    *link
	unacked int
}

// refusals are operations that the target did not carry out.
type refusals struct {
	issued uint64 // by this side
	seen   uint64 // by the peer, told here
	known  uint64 // by the peer, said to have been told
	first  error  // since the last flush
}

// Stats are an endpoint's counters.
type Stats struct {
	Puts, Messages           uint64 // issued
	Handovers                uint64
	ReplayedFrames           uint64
	ReplayedBytes            uint64
	Refused                  uint64
	LanesLost, LanesUp       uint64
	DroppedFrames, BadFrames uint64
}

func (w *Worker) newEndpoint(side wire.Side, addr string, mode wire.Mode) *Endpoint {
	w.lastID++
	ep := &Endpoint{w: w, id: w.lastID, side: side, addr: addr, hand: failover.New(side)}
	ep.names.Mine = failover.Identity{Incarnation: w.incarnation, Endpoint: ep.id}
	ep.terms = wireup.Terms{Mode: mode, MaxFrame: uint32(w.maxFrame()), MaxMessage: w.cfg.MaxMessage, Handover: true}
	ep.parts.Limit = w.cfg.MaxMessage
	ep.suspend = newTimer(func() { ep.fail(ErrPeerFailed) })
	ep.deadline = newTimer(ep.closeTimedOut)
	ep.live.init(ep)
	w.endpoints = append(w.endpoints, ep)
	if w.OnNew != nil {
		w.OnNew(ep)
	}
	return ep
}

func (w *Worker) maxFrame() int {
	n := w.cfg.MaxFrame
	for _, i := range w.ifaces {
		n = min(n, i.Attr().MaxFrame)
	}
	return n
}

// note moves the endpoint on, and says whether that was possible.
func (ep *Endpoint) note(h happened) bool { return life.Note(&ep.state, h) }

// State is where the endpoint is in its life.
func (ep *Endpoint) State() State { return ep.state }

// Err is why it failed, or nil.
func (ep *Endpoint) Err() error { return ep.err }

// Mode is the error mode in force: perhaps less than was asked for, if the peer can't.
func (ep *Endpoint) Mode() wire.Mode { return ep.terms.Mode }

// Addr is the peer's address, Peer the name it gave itself.
func (ep *Endpoint) Addr() string { return ep.addr }
func (ep *Endpoint) Peer() string { return ep.peer }

// PeerIncarnation names the peer's process; 0 while it isn't known.
func (ep *Endpoint) PeerIncarnation() uint64 { return ep.names.Yours.Incarnation }

// Stats are the counters so far.
func (ep *Endpoint) Stats() Stats { return ep.stats }

// LaneStatus describes one lane for people and tools.
type LaneStatus struct {
	Instance      wire.Instance
	Local, Remote string
	State         lane.State
	Since         time.Duration
	Path          int
	PostedBytes   uint64 // of frames
	AckedBytes    uint64
	AcceptedBytes uint64
}

// Lanes describes the lane instances that there are, those that are up first.
func (ep *Endpoint) Lanes() []LaneStatus {
	var s []LaneStatus
	for _, ls := range [][]*link{ep.up, ep.opening, ep.lost} {
		for _, l := range ls {
			c := l.Tep.Counts()
			s = append(s, LaneStatus{l.ID, l.Tep.Local(), l.Tep.Remote(), l.State(), l.Since, l.Path,
				c.PostedBytes, c.AckedBytes, c.AcceptedBytes})
		}
	}
	return s
}

// find is the link of an instance that is not closed.
func (ep *Endpoint) find(id wire.Instance) *link {
	for _, ls := range [][]*link{ep.up, ep.opening, ep.lost} {
		for _, l := range ls {
			if l.ID == id {
				return l
			}
		}
	}
	return nil
}

func remove(ls []*link, l *link) []*link {
	for i, o := range ls {
		if o == l {
			return append(ls[:i], ls[i+1:]...)
		}
	}
	return ls
}

// least is the lane that is up with the fewest bytes on their way, nil if there is none.
func (ep *Endpoint) least() *link {
	var best *link
	var least uint64
	for _, l := range ep.up {
		if n := l.Backlog(); best == nil || n < least {
			best, least = l, n
		}
	}
	return best
}

// orderLane is where a frame with an order promise may be posted now, or nil: R10. While frames are
// unacknowledged on a lane that is lost, nobody may pass them by on another.
func (ep *Endpoint) orderLane() *link {
	o := &ep.ordered
	if o.lane != nil && o.lane.State() == lane.Up {
		return o.lane
	}
	if o.unacked > 0 {
		return nil
	}
	o.lane = ep.least()
	return o.lane
}
