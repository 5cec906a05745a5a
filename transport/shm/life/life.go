package life

import "github.com/openbraid/braid/internal/fsm"

// State is where an endpoint is in its life.
//
//	connecting ──stands──> up ──quiesce──> quiesced
//	    │                  │                  ^
//	    └──────broke───────┴──> broken ──quiesce
//	                                 close, from anywhere ──> closed
//
// In quiesced the engine gave it up; control frames are read while the connection lasts.
type State uint8

const (
	Connecting State = iota
	Up
	Broken
	Quiesced
	Closed
)

func (s State) String() string {
	return [...]string{"connecting", "up", "broken", "quiesced", "closed"}[s]
}

// Event moves an endpoint on.
type Event uint8

const (
	Stands Event = iota
	Broke
	Quiesce
	Close
)

func (e Event) String() string { return [...]string{"stands", "broke", "quiesce", "close"}[e] }

type arrow = fsm.Row[State, Event]

// Table is the whole life.
var Table = fsm.New(Closed, Close,
	arrow{From: Connecting, On: Stands, To: Up},
	arrow{From: Connecting, On: Broke, To: Broken},
	arrow{From: Connecting, On: Quiesce, To: Quiesced},
	arrow{From: Connecting, On: Close, To: Closed},

	arrow{From: Up, On: Broke, To: Broken},
	arrow{From: Up, On: Quiesce, To: Quiesced},
	arrow{From: Up, On: Close, To: Closed},

	arrow{From: Broken, On: Quiesce, To: Quiesced},
	arrow{From: Broken, On: Close, To: Closed},

	arrow{From: Quiesced, On: Broke, To: Quiesced},
	arrow{From: Quiesced, On: Quiesce, To: Quiesced},
	arrow{From: Quiesced, On: Close, To: Closed},

	arrow{From: Closed, On: Quiesce, To: Closed},
)
