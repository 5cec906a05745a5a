package life

import "github.com/openbraid/braid/internal/fsm"

// State is where an endpoint is in its life.
//
//	Dialing --LaneUp--> Ready <--LaneUp/LanesGone--> Suspended
//	these three --CloseCalled--> Closing --Settled, Broke--> Closed
//	these three --Broke, and those that had a lane --PeerClosed--> Failed --CloseCalled--> Closed
type State uint8

const (
	Dialing   State = iota // no lane yet
	Ready                  // at least one lane is up
	Suspended              // had lanes, has none
	Closing                // flushes, then agrees with the peer
	Failed                 // over, with an error; not yet closed
	Closed                 // nothing is left
)

func (s State) String() string {
	return [...]string{"dialing", "ready", "suspended", "closing", "failed", "closed"}[s]
}

// Event moves an endpoint on.
type Event uint8

const (
	LaneUp      Event = iota // a lane came up
	LanesGone                // the last lane is lost
	CloseCalled              // the user closes
	Settled                  // the close is agreed, or given up
	PeerClosed               // the peer closed
	Broke                    // nothing can save it, or the user aborts
)

func (e Event) String() string {
	return [...]string{"laneUp", "lanesGone", "closeCalled", "settled", "peerClosed", "broke"}[e]
}

type arrow = fsm.Row[State, Event]

// Table is the whole life.
var Table = fsm.New(Closed, Broke,
	arrow{From: Dialing, On: LaneUp, To: Ready},
	arrow{From: Dialing, On: CloseCalled, To: Closing},
	arrow{From: Dialing, On: Broke, To: Failed},

	arrow{From: Ready, On: LaneUp, To: Ready},
	arrow{From: Ready, On: LanesGone, To: Suspended},
	arrow{From: Ready, On: CloseCalled, To: Closing},
	arrow{From: Ready, On: PeerClosed, To: Failed},
	arrow{From: Ready, On: Broke, To: Failed},

	arrow{From: Suspended, On: LaneUp, To: Ready},
	arrow{From: Suspended, On: CloseCalled, To: Closing},
	arrow{From: Suspended, On: PeerClosed, To: Failed},
	arrow{From: Suspended, On: Broke, To: Failed},

	arrow{From: Closing, On: LaneUp, To: Closing},
	arrow{From: Closing, On: LanesGone, To: Closing},
	arrow{From: Closing, On: Settled, To: Closed},
	arrow{From: Closing, On: PeerClosed, To: Closing},
	arrow{From: Closing, On: Broke, To: Closed},

	arrow{From: Failed, On: CloseCalled, To: Closed},
)
