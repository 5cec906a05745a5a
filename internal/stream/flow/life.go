package flow

import (
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/fsm"
)

// State is where a stream is in its life, on one side.
//
//	opening --Accepted--> open --CloseWrite--> writeEnded --Fin--> bothEnded
//	                        |  --Fin---------> readEnded --CloseWrite--^
//	                        |
//	   any --Close--> closing --Fin, PeerClosed--> closed         any --PeerReset, Broke--> broken
type State uint8

const (
	Opening    State = iota // the peer was asked, and has not answered
	Open                    // both directions
	WriteEnded              // nothing more is sent; the peer sends
	ReadEnded               // the peer sends nothing more; this side does
	BothEnded               // no direction is left; the user may still read what came
	Closing                 // the user has closed; the peer may still send, for nobody
	Closed                  // nothing is left
	Broken                  // the peer reset it, or the endpoint is over; the user has not closed
)

func (s State) String() string {
	return [...]string{"opening", "open", "writeEnded", "readEnded", "bothEnded", "closing", "closed", "broken"}[s]
}

// Event moves a stream on.
type Event uint8

const (
	CallCloseWrite Event = iota // the user sends no more
	CallClose                   // and wants no more
	CallReset                   // and doesn't care
	Accepted                    // of the peer, as all that follow
	Data
	Window
	Fin
	PeerClosed
	PeerReset // or refused it
	Broke     // the endpoint is over
)

func (e Event) String() string {
	return [...]string{"callCloseWrite", "callClose", "callReset", "accepted", "data", "window", "fin", "peerClosed", "peerReset", "broke"}[e]
}

// Say is what a step asks to be told to the peer.
type Say uint8

const (
	Nothing Say = iota
	SayFin
	SayClose
	SayReset
)

func (s Say) String() string { return [...]string{"", "fin", "close", "reset"}[s] }

type arrow = fsm.Row[State, Event]

var table = fsm.New(Broken, Broke,
	arrow{From: Opening, On: CallReset, To: Closed},
	arrow{From: Opening, On: Accepted, To: Open},
	arrow{From: Opening, On: PeerReset, To: Broken},
	arrow{From: Opening, On: Broke, To: Broken},

	arrow{From: Open, On: CallCloseWrite, To: WriteEnded},
	arrow{From: Open, On: CallClose, To: Closing},
	arrow{From: Open, On: CallReset, To: Closed},
	arrow{From: Open, On: Data, To: Open},
	arrow{From: Open, On: Window, To: Open},
	arrow{From: Open, On: Fin, To: ReadEnded},
	arrow{From: Open, On: PeerClosed, To: BothEnded},
	arrow{From: Open, On: PeerReset, To: Broken},
	arrow{From: Open, On: Broke, To: Broken},

	arrow{From: WriteEnded, On: CallClose, To: Closing},
	arrow{From: WriteEnded, On: CallReset, To: Closed},
	arrow{From: WriteEnded, On: Data, To: WriteEnded},
	arrow{From: WriteEnded, On: Window, To: WriteEnded},
	arrow{From: WriteEnded, On: Fin, To: BothEnded},
	arrow{From: WriteEnded, On: PeerClosed, To: BothEnded},
	arrow{From: WriteEnded, On: PeerReset, To: Broken},
	arrow{From: WriteEnded, On: Broke, To: Broken},

	arrow{From: ReadEnded, On: CallCloseWrite, To: BothEnded},
	arrow{From: ReadEnded, On: CallClose, To: Closed},
	arrow{From: ReadEnded, On: CallReset, To: Closed},
	arrow{From: ReadEnded, On: Window, To: ReadEnded},
	arrow{From: ReadEnded, On: PeerClosed, To: BothEnded},
	arrow{From: ReadEnded, On: PeerReset, To: Broken},
	arrow{From: ReadEnded, On: Broke, To: Broken},

	arrow{From: BothEnded, On: CallClose, To: Closed},
	arrow{From: BothEnded, On: CallReset, To: Closed},

	arrow{From: Closing, On: Data, To: Closing},
	arrow{From: Closing, On: Window, To: Closing},
	arrow{From: Closing, On: Fin, To: Closed},
	arrow{From: Closing, On: PeerClosed, To: Closed},
	arrow{From: Closing, On: PeerReset, To: Closed},
	arrow{From: Closing, On: Broke, To: Closed},

	arrow{From: Broken, On: CallClose, To: Closed},
	arrow{From: Broken, On: CallReset, To: Closed},
)

// says is what is to be told when an event moves a stream on from a state.
func says(from State, e Event) Say {
	over := from == BothEnded || from == Broken
	switch {
	case e == CallCloseWrite:
		return SayFin
	case e == CallClose && !over:
		return SayClose
	case e == CallReset && !over:
		return SayReset
	case e == PeerClosed && (from == Open || from == ReadEnded):
		return SayFin // who closes waits for that
	}
	return Nothing
}

// Life is where a stream is. The zero value is that of who opens it; who was asked begins with Asked.
type Life struct{ state State }

// Asked is the beginning of a stream that the peer has opened.
func Asked() Life { return Life{Open} }

// State is where it is.
func (l *Life) State() State { return l.state }

// Step notes an event. ok is false if it can't be: then nothing changes.
func (l *Life) Step(e Event) (say Say, ok bool) {
	from := l.state
	if !table.Note(&l.state, e) {
		return Nothing, false
	}
	return says(from, e), true
}

// Listed says whether the peer may still say something that counts. If not, what it says is late.
func (l *Life) Listed() bool {
	return l.state != BothEnded && l.state != Closed && l.state != Broken
}

// MayWrite says whether bytes may be sent, MayRead whether more may come that the user wants.
func (l *Life) MayWrite() bool { return l.state == Open || l.state == ReadEnded }

// MayRead says whether more may come that the user wants.
func (l *Life) MayRead() bool {
	return l.state == Opening || l.state == Open || l.state == WriteEnded
}

// Matrix is each state with each event: the next state, and what is said.
func Matrix() string {
	var b strings.Builder
	for s := Opening; s <= Broken; s++ {
		for e := CallCloseWrite; e <= Broke; e++ {
			l, to := Life{s}, "-"
			say, ok := l.Step(e)
			if ok {
				to = l.state.String()
			}
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-10s %-14s %-10s %s", s, e, to, say), " ") + "\n")
		}
	}
	return b.String()
}
