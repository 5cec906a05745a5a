package life

import "github.com/openbraid/braid/internal/fsm"

// State of a connection.
type State uint8

// The states, in the order in which they come.
const (
	Connecting State = iota // dialed: the request is on its way
	Accepting               // asked for: the answer is on its way
	Up
	Broken   // the connection is gone, the sink was told
	Quiesced // the engine gave it up
	Closed
)

func (s State) String() string {
	return [...]string{"connecting", "accepting", "up", "broken", "quiesced", "closed", "state(?)"}[min(s, Closed+1)]
}

// Event is what changes a state.
type Event uint8

// The events.
const (
	Connected Event = iota
	Broke
	Quiesce
	Close
)

func (e Event) String() string {
	return [...]string{"connected", "broke", "quiesce", "close", "event(?)"}[min(e, Close+1)]
}

type arrow = fsm.Row[State, Event]

// Table is the whole of it; testdata/life.txt shows it.
var Table = fsm.New(Closed, Close,
	arrow{From: Connecting, On: Connected, To: Up}, arrow{From: Connecting, On: Broke, To: Broken},
	arrow{From: Connecting, On: Quiesce, To: Quiesced}, arrow{From: Connecting, On: Close, To: Closed},
	arrow{From: Accepting, On: Connected, To: Up}, arrow{From: Accepting, On: Close, To: Closed},
	arrow{From: Up, On: Broke, To: Broken}, arrow{From: Up, On: Quiesce, To: Quiesced}, arrow{From: Up, On: Close, To: Closed},
	arrow{From: Broken, On: Quiesce, To: Quiesced}, arrow{From: Broken, On: Close, To: Closed},
	arrow{From: Quiesced, On: Broke, To: Quiesced}, arrow{From: Quiesced, On: Quiesce, To: Quiesced},
	arrow{From: Quiesced, On: Close, To: Closed},
	arrow{From: Closed, On: Quiesce, To: Closed}, arrow{From: Closed, On: Close, To: Closed},
)
