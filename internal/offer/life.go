package offer

import (
	"github.com/openbraid/braid/internal/fsm"
	"github.com/openbraid/braid/internal/wire"
)

// State is where an offer is in its life, at its receiver.
//
//	Offered --Received--> Over                       the read tells the sender
//	Offered, Begun --PieceRead--> Begun --ReadWhole--> Over
//	Offered, Begun --TakenBack--> Withdrawn
//	all --LetGo--> Over
type State uint8

const (
	Offered   State = iota // nobody has said where it is to go
	Begun                  // parts of it are read, or were
	Withdrawn              // its sender has it back
	Over
)

func (s State) String() string { return [...]string{"offered", "begun", "withdrawn", "over"}[s] }

// Event moves an offer on.
type Event uint8

const (
	Received  Event = iota // all of it is to be read
	PieceRead              // a part of it is
	ReadWhole              // it was read in parts
	TakenBack              // its sender doesn't want to wait
	WasLetGo               // nobody asks for it any more
)

func (e Event) String() string {
	return [...]string{"received", "pieceRead", "readWhole", "takenBack", "wasLetGo"}[e]
}

type arrow = fsm.Row[State, Event]

// Life is the whole life.
var Life = fsm.New(Over, WasLetGo,
	arrow{From: Offered, On: Received, To: Over},
	arrow{From: Offered, On: PieceRead, To: Begun},
	arrow{From: Offered, On: TakenBack, To: Withdrawn},
	arrow{From: Offered, On: WasLetGo, To: Over},

	arrow{From: Begun, On: PieceRead, To: Begun},
	arrow{From: Begun, On: ReadWhole, To: Over},
	arrow{From: Begun, On: TakenBack, To: Withdrawn},
	arrow{From: Begun, On: WasLetGo, To: Over},

	arrow{From: Withdrawn, On: ReadWhole, To: Over},
	arrow{From: Withdrawn, On: WasLetGo, To: Over},

	arrow{From: Over, On: ReadWhole, To: Over},
	arrow{From: Over, On: WasLetGo, To: Over},
)

// told is what the sender hears of an event, 0: nothing. Of what is received, the read tells.
func told(was State, e Event) wire.TagCode {
	switch {
	case was != Offered && was != Begun:
	case e == ReadWhole:
		return wire.TagMatched
	case e == TakenBack, e == WasLetGo:
		return wire.TagGivenUp
	}
	return 0
}
