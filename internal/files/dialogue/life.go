package dialogue

import "github.com/openbraid/braid/internal/fsm"

// State is where a side is in the life of a transfer.
//
//	sender     greeting --ready--> offering --accepted--> sending --finished--> finishing --done--> over
//	receiver   waiting --offered--> listing --listed--> checking --accepted--> taking --finished--> placing --done--> over
//	both       anything but over --aborted--> aborted
type State uint8

const (
	Greeting  State = iota // sender: for a receiver that is ready
	Offering               // sender: offer and list are sent, not answered
	Waiting                // receiver: for an offer
	Listing                // receiver: the list is coming
	Checking               // receiver: the list is complete, and looked at
	Sending                // sender: pieces
	Taking                 // receiver: pieces
	Finishing              // sender: all pieces are announced
	Placing                // receiver: the same; what is written gets its name
	Over                   // everything has its name
	Aborted                // by either side
)

func (s State) String() string {
	return [...]string{"greeting", "offering", "waiting", "listing", "checking", "sending", "taking", "finishing", "placing", "over", "aborted"}[s]
}

// Event moves a side on.
type Event uint8

const (
	WasReady    Event = iota // Ready
	WasOffered               // Offer
	WasListed                // the last part of the list
	WasAccepted              // Accept
	WasFinished              // Finish
	WasDone                  // Done
	WasAborted               // Abort, or an error
)

func (e Event) String() string {
	return [...]string{"ready", "offered", "listed", "accepted", "finished", "done", "aborted"}[e]
}

type row = fsm.Row[State, Event]

// SenderLife and ReceiverLife are the pictures as tables.
var (
	SenderLife = fsm.New(Aborted, WasAborted,
		row{From: Greeting, On: WasReady, To: Offering},
		row{From: Offering, On: WasAccepted, To: Sending},
		row{From: Sending, On: WasFinished, To: Finishing},
		row{From: Finishing, On: WasDone, To: Over},
		row{From: Greeting, On: WasAborted, To: Aborted},
		row{From: Offering, On: WasAborted, To: Aborted},
		row{From: Sending, On: WasAborted, To: Aborted},
		row{From: Finishing, On: WasAborted, To: Aborted},
	)
	ReceiverLife = fsm.New(Aborted, WasAborted,
		row{From: Waiting, On: WasOffered, To: Listing},
		row{From: Listing, On: WasListed, To: Checking},
		row{From: Checking, On: WasAccepted, To: Taking},
		row{From: Taking, On: WasFinished, To: Placing},
		row{From: Placing, On: WasDone, To: Over},
		row{From: Waiting, On: WasAborted, To: Aborted},
		row{From: Listing, On: WasAborted, To: Aborted},
		row{From: Checking, On: WasAborted, To: Aborted},
		row{From: Taking, On: WasAborted, To: Aborted},
		row{From: Placing, On: WasAborted, To: Aborted},
	)
)
