package worker

import (
	"errors"

	"github.com/openbraid/braid/internal/health"
	"github.com/openbraid/braid/internal/intake"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/replay"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/internal/wireup"
	"github.com/openbraid/braid/transport"
)

// link is one lane instance with its connection: the engine's end of a transport endpoint.
type link struct {
	lane.Lane
	w  *Worker
	ep *Endpoint // nil until an accepted connection has said whose it is

	wu         wireup.Machine
	helloNonce [16]byte     // of an accepted hello, to be echoed
	limit      *timer.Timer // of the handshake, or of a farewell
	path       *paths.Path  // nil if the peer opened it
	ln         *Listener    // that accepted it
	from, here string       // host of the peer; this one's, once the lane has been up, or is lost
	reason     error        // why it is lost

	landing intake.Landing
	parting

	alive   health.Lane
	give    replay.Handover // what became of its operations, once it is lost
	refused refusals
	stood   bool // its connection did
	wasUp   bool
	warned  bool // its handshake is late
	heard   bool // the peer said something
}

// parting is how far the end of a connection has come.
type parting struct {
	saidClose bool
	lingers   bool // until the peer, who closed, hangs up
	goodbye   bool // got its answer, is to hang up
	buried    bool
}

// refusals count Refused frames on one lane instance.
type refusals struct {
	issued uint64 // by this side
	seen   uint64 // of the peer's
}

var errControlRoom = errors.New("no room for a control frame: the peer does not read")

func (l *link) name() string { return l.Tep.Local() + "->" + l.Tep.Remote() }

// Connected implements transport.Sink: the hello waits in the connection already, and leaves now.
func (l *link) Connected() { l.stood = true }

// Room implements transport.Sink.
func (l *link) Room() {
	if l.ep != nil {
		l.ep.Wake()
	}
}

// OnError implements transport.Sink.
func (l *link) OnError(err error) transport.Decision {
	switch {
	case l.ep == nil:
		l.w.stranger(l, err)
		return transport.Complete
	case l.State() == lane.Closed:
		l.w.turns.Stop(l.limit)
		l.w.bury(l)
		return transport.Hold
	case l.State() == lane.Lost:
		return transport.Hold
	}
	l.ep.lose(l, err)
	return transport.Hold
}

// Frame implements transport.Sink.
func (l *link) Frame(in *transport.Incoming) {
	switch {
	case in.Class == transport.Data:
		if l.State() == lane.Up {
			l.ep.receive(l, in)
		}
	case l.State() == lane.Opening:
		l.heard = true
		l.handshake(in.ID, in.Head)
	case l.State() == lane.Closed:
		l.farewell(in.ID, in.Head)
	default:
		l.ep.control(l, in.ID, in.Head)
	}
}

// Place implements transport.Sink.
func (l *link) Place(id uint8, head []byte, size int) []byte {
	if l.State() != lane.Up {
		return nil
	}
	return l.ep.in.Place(&l.landing, id, head, size)
}

// unplace: nothing more is written where a payload is arriving.
func (l *link) unplace() {
	if l.landing.Busy() {
		l.Tep.Unplace()
		l.landing.Leave()
	}
}

// Lands implements outbox.Host.
func (ep *Endpoint) Lands(r *request.Request) bool {
	for _, l := range ep.up {
		if l.landing.Reads(r) {
			return true
		}
	}
	return false
}

// Lend implements transport.Loaner.
func (l *link) Lend(key transport.MemKey) transport.Loan { return l.w.mem.Lend(key) }

// post sends a control frame. A lane that can't take one is as good as lost: but not from inside this
// call, which may come from the middle of a frame that must count first.
func (l *link) post(id uint8, body []byte) {
	l.w.Frame = transport.Frame{ID: id, Class: transport.Control, Head: body}
	if l.Tep.Post(&l.w.Frame) == transport.NoResource && l.ep != nil {
		l.w.turns.Set(timer.New(func() { l.ep.lose(l, errControlRoom) }), l.w.now)
	}
}
