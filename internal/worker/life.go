package worker

import "github.com/openbraid/braid/internal/fsm"

// State is where an endpoint is in its life.
//
//	StateDialing --LaneUp--> StateReady <--LaneUp/LanesGone--> StateSuspended
//	   any --CloseCalled--> StateClosing --Settled--> Closed
//	   any --Broke--> Failed --CloseCalled--> Closed
type State uint8

const (
	StateDialing   State = iota // no lane yet
	StateReady                  // at least one lane is up
	StateSuspended              // had lanes, has none
	StateClosing                // flushes, then agrees with the peer
	StateFailed                 // over, with an error; not yet closed
	StateClosed                 // nothing is left
)

func (s State) String() string {
	return [...]string{"dialing", "ready", "suspended", "closing", "failed", "closed"}[s]
}

// happened moves an endpoint on.
type happened uint8

const (
	laneUp      happened = iota // a lane came up
	lanesGone                   // the last lane is lost
	closeCalled                 // the user closes
	settled                     // the close is agreed, or given up
	peerClosed                  // the peer closed
	broke                       // nothing can save it, or the user aborts
)

func (h happened) String() string {
	return [...]string{"laneUp", "lanesGone", "closeCalled", "settled", "peerClosed", "broke"}[h]
}

type arrow = fsm.Row[State, happened]

var life = fsm.New(StateClosed, broke,
	arrow{From: StateDialing, On: laneUp, To: StateReady},
	arrow{From: StateDialing, On: closeCalled, To: StateClosing},
	arrow{From: StateDialing, On: broke, To: StateFailed},

	arrow{From: StateReady, On: laneUp, To: StateReady},
	arrow{From: StateReady, On: lanesGone, To: StateSuspended},
	arrow{From: StateReady, On: closeCalled, To: StateClosing},
	arrow{From: StateReady, On: peerClosed, To: StateFailed},
	arrow{From: StateReady, On: broke, To: StateFailed},

	arrow{From: StateSuspended, On: laneUp, To: StateReady},
	arrow{From: StateSuspended, On: closeCalled, To: StateClosing},
	arrow{From: StateSuspended, On: peerClosed, To: StateFailed},
	arrow{From: StateSuspended, On: broke, To: StateFailed},

	arrow{From: StateClosing, On: laneUp, To: StateClosing},
	arrow{From: StateClosing, On: lanesGone, To: StateClosing},
	arrow{From: StateClosing, On: settled, To: StateClosed},
	arrow{From: StateClosing, On: peerClosed, To: StateClosing},
	arrow{From: StateClosing, On: broke, To: StateClosed},

	arrow{From: StateFailed, On: closeCalled, To: StateClosed},
)
