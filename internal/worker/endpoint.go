package worker

import (
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/failover"
	"github.com/openbraid/braid/internal/intake"
	"github.com/openbraid/braid/internal/invariants"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/outbox"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/protocol"
	"github.com/openbraid/braid/internal/reassembly"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// Endpoint is one peer, reached over several lanes.
type Endpoint struct {
	w     *Worker
	id    uint64
	side  wire.Side
	state life.State
	err   error  // why it failed
	addr  string // of the peer, for people
	User  any    // the root package's endpoint

	peering
	lanes
	closing
	Calls // what its user posts
	delivery.Ends
	above delivery.Ends // those of the library's own families

	hand  *failover.Machine
	box   *outbox.Box
	in    intake.Intake
	stats Stats
	ready bool // in the worker's list of those that may have something to post
}

// peering is who is at the other end, and what was agreed with it.
type peering struct {
	names     failover.Names
	to        wireup.Whom // that was dialed
	terms     wireup.Terms
	secret    secret.Secret // that both have, if any
	key       wire.JoinKey
	tellKey   bool      // the next answer to a hello is that to the first
	ln        *Listener // of an accepted endpoint
	here      string    // this end of its first lane
	announced []string  // where the peer was told to dial further ones
	peer      string    // its name for itself
}

// lanes are what there is to post on.
type lanes struct {
	up       []*link // in the order in which they came up
	lost     []*link // until their record ends
	opening  []*link
	paths    *paths.Set // of the side that dialed
	live     liveness
	dial     *request.Request // waits for the first lanes
	dialWait *timer.Timer     // of a dialer: for the lanes after the first; of an acceptor: for the first to be confirmed
	suspend  *timer.Timer
}

// Stats are an endpoint's counters.
type Stats struct {
	outbox.Stats
	Handovers          uint64
	Refused            uint64 // the peer's operations that were not carried out here
	LanesLost, LanesUp uint64
	BadFrames          uint64
}

// stay is how many bytes may be under way on a lane before small operations go to another, where the window is large.
const stay = 64 << 10

func (w *Worker) newEndpoint(side wire.Side, addr string, mode wire.Mode) *Endpoint {
	w.lastID++
	ep := &Endpoint{w: w, id: w.lastID, side: side, addr: addr, hand: failover.New(side), Ends: delivery.EndsIn(&w.calls), above: delivery.EndsIn(&w.above)}
	ep.names.Mine = failover.Identity{Incarnation: w.incarnation, Endpoint: ep.id}
	ep.terms = wireup.Terms{Mode: mode, MaxFrame: uint32(w.maxFrame()), MaxMessage: w.cfg.MaxMessage, Handover: true, Rails: true, Signal: true, Atomic: true, Tag: true, Offer: true, TagPut: true}
	ep.box = outbox.New(ep, &w.pool, &w.Scratch, outbox.Terms{Addr: addr, Pending: w.cfg.Pending, PendingBytes: w.cfg.PendingBytes, Peer: protocol.Peer{MaxMessage: w.cfg.MaxMessage}, Stay: uint64(min(stay, w.cfg.Window/8)), Forced: cost.Thresholds{ZeroCopy: w.cfg.ZeroCopy, Eager: w.cfg.Eager, Stripe: w.cfg.Stripe}, Scheme: cost.Scheme(w.cfg.Rendezvous)})
	ep.box.OwnCredits, ep.box.OwnBacklog, ep.box.Chosen = w.cfg.Replies, w.cfg.Backlog, ep.hand.Chosen
	ep.Calls = Calls{ep.box}
	ep.in = intake.Intake{From: ep, Box: ep.box, Memory: w.mem, Tags: w.tags, Offers: w.offers, Handlers: &w.Handlers, Calls: &w.calls, Above: &w.above, Parts: reassembly.Table{Limit: w.cfg.MaxMessage, Pool: w.memory}}
	ep.suspend = timer.New(func() {
		ep.w.env.Log.Warn("a deadline is over: no lane came back (setting suspended)", "peer", ep.addr, "state", ep.Inspect())
		ep.fail(fmt.Errorf("%w: no lane came back within %v (setting suspended)", outcome.ErrPeerFailed, ep.w.cfg.Times.Suspended))
	})
	ep.deadline = timer.New(ep.closeTimedOut)
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

// note moves the endpoint on. What can't happen in its state is a mistake of the engine, and changes nothing; with the invariants compiled in it panics.
func (ep *Endpoint) note(e life.Event) {
	ok := life.Table.Note(&ep.state, e)
	invariants.Require(ok, "endpoint", ep.state, e)
}

// State is where the endpoint is in its life.
func (ep *Endpoint) State() life.State { return ep.state }

// PostOwn sends a message under an id that is the library's own. See outbox.Box.PostAM.
func (ep *Endpoint) PostOwn(id uint16, header, payload []byte) (*request.Request, error) {
	return ep.box.PostAM(id, header, payload)
}

// OnEndAbove is OnEnd for a family of the library's own: fn is called behind the messages that came before.
func (ep *Endpoint) OnEndAbove(fn func(error)) { ep.above.OnEnd(fn) }

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
func (ep *Endpoint) Stats() Stats {
	s := ep.stats
	s.Stats, s.Refused = ep.box.Stats, ep.in.Refused
	return s
}

// Lanes describes the lane instances that there are, those that are up first. Attempts that came to nothing are none.
func (ep *Endpoint) Lanes() (s []lane.Status) {
	for _, l := range ep.links() {
		if l.State() != lane.Lost || l.wasUp {
			l.Fault = ep.blame(l)
			s = append(s, l.Status(ep.box.Brings(&l.Lane)))
		}
	}
	return s
}

// links are all that are not closed, those that are up first.
func (ep *Endpoint) links() []*link { return slices.Concat(ep.up, ep.opening, ep.lost) }

// find is the link of an instance that is not closed.
func (ep *Endpoint) find(id wire.Instance) *link {
	for _, ls := range [...][]*link{ep.up, ep.opening, ep.lost} {
		if i := slices.IndexFunc(ls, func(l *link) bool { return l.ID == id }); i >= 0 {
			return ls[i]
		}
	}
	return nil
}

func remove(ls []*link, l *link) []*link {
	return slices.DeleteFunc(ls, func(o *link) bool { return o == l })
}

// PostFlush is that of each endpoint. See outbox.PostFlushes.
func (w *Worker) PostFlush(f outbox.Flushing) (*request.Request, error) {
	if w.closed {
		return nil, &outcome.Error{Op: "flush", Err: outcome.ErrClosed}
	}
	boxes := make([]*outbox.Box, len(w.endpoints))
	for i, ep := range w.endpoints {
		boxes[i] = ep.box
	}
	return outbox.PostFlushes(boxes, f, &w.pool)
}

// Report implements outbox.Host.
func (ep *Endpoint) Report(r *request.Request, err error) { ep.w.Report(r, err) }

// Later implements outbox.Host.
func (ep *Endpoint) Later() { ep.w.turns.Set(timer.New(ep.Wake), ep.w.now) }

// Wake implements outbox.Host.
func (ep *Endpoint) Wake() {
	if !ep.ready {
		ep.ready = true
		ep.w.ready = append(ep.w.ready, ep)
	}
}

func (ep *Endpoint) opError(op string, fate outcome.Fate, err error) error {
	return outcome.As(op, ep.addr, fate, err)
}
