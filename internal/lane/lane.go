package lane

import (
	"fmt"
	"time"

	"github.com/openbraid/braid/internal/fsm"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// State is where a lane instance is in its life.
type State uint8

const (
	Opening State = iota // hello sent, not answered
	Up
	Lost   // held and quiesced; its operations are in the hand-over
	Closed // nothing is left of it
)

func (s State) String() string { return [...]string{"opening", "up", "lost", "closed"}[s] }

// Event moves a lane instance on.
type Event uint8

const (
	Answered Event = iota // wireup is done
	Broke                 // found broken here, or the peer said so
	Ended                 // its record ended, or the endpoint's end
)

func (e Event) String() string { return [...]string{"Answered", "Broke", "Ended"}[e] }

// Life is the table of the picture in doc.go.
var Life = fsm.New(Closed, Ended,
	fsm.Row[State, Event]{From: Opening, On: Answered, To: Up},
	fsm.Row[State, Event]{From: Opening, On: Broke, To: Lost},
	fsm.Row[State, Event]{From: Opening, On: Ended, To: Closed},
	fsm.Row[State, Event]{From: Up, On: Broke, To: Lost},
	fsm.Row[State, Event]{From: Up, On: Ended, To: Closed},
	fsm.Row[State, Event]{From: Lost, On: Ended, To: Closed},
)

// Lane is one lane instance.
type Lane struct {
	ID    wire.Instance
	Tep   transport.Endpoint
	Path  int // index of the path, -1 if the peer opened it
	Since time.Duration
	// InOrder: frames are executed in the order of their posting.
	InOrder  bool
	Speed    int           // of the interface here, Mbit/s; 0: not known
	Trip     time.Duration // the shortest round trip so far; 0: not known
	Sure     bool          // Trip was measured often enough
	Fault    string        // whose its loss looks like, once it is lost
	PerFrame time.Duration // that a frame takes besides its bytes; 0: not known
	ZeroCopy int           // payload from which it sends without a copy; 0: never
	// Near: within this host. While there is such a lane, those over networks are kept for when there is none.
	Near  bool
	Pass  transport.Passer // nil: the peer is not in this worker
	state State
}

// Send posts a small frame, and says whether the lane took it, and whether it is executed already.
func (l *Lane) Send(f *transport.Frame) (taken, over bool) {
	if l.Pass != nil {
		if taken, over = l.Pass.Pass(f); taken {
			return taken, over
		}
	}
	return l.Tep.Post(f) == transport.Done, false
}

// State is where the instance is in its life.
func (l *Lane) State() State { return l.state }

// Note applies an event. One that the table does not know in this state is a mistake of the engine.
func (l *Lane) Note(e Event) {
	if !Life.Note(&l.state, e) {
		panic(fmt.Sprintf("lane %v: event %v in state %v", l.ID, e, l.state))
	}
}

// Backlog is the number of bytes that are posted and not acknowledged.
func (l *Lane) Backlog() uint64 {
	c := l.Tep.Counts()
	return c.PostedBytes - c.AckedBytes
}
