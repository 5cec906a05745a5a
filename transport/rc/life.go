package rc

import "github.com/openbraid/braid/internal/fsm"

// The life of an endpoint.
//
//	connecting ──connected──> up ──quiesce──> quiesced
//	accepting  ──────┘        │                  ^
//	    └──────broke──────────┴──> broken ──quiesce
//	                                        close, from anywhere ──> closed
//
// An endpoint that is accepting is nobody's yet: the acceptor hears of it when the peer has shown that it got the answer.
type state uint8

const (
	connecting state = iota // dialed: the request is on its way
	accepting               // asked for: the answer is on its way
	up
	broken   // the connection is gone, the sink was told
	quiesced // the engine gave it up
	closed
)

func (s state) String() string {
	return [...]string{"connecting", "accepting", "up", "broken", "quiesced", "closed", "state(?)"}[min(s, closed+1)]
}

type event uint8

const (
	evConnected event = iota
	evBroke
	evQuiesce
	evClose
)

func (e event) String() string {
	return [...]string{"connected", "broke", "quiesce", "close", "event(?)"}[min(e, evClose+1)]
}

type arrow = fsm.Row[state, event]

// life is the whole table; testdata/life.txt shows it.
var life = fsm.New(closed, evClose,
	arrow{From: connecting, On: evConnected, To: up}, arrow{From: connecting, On: evBroke, To: broken},
	arrow{From: connecting, On: evQuiesce, To: quiesced}, arrow{From: connecting, On: evClose, To: closed},
	arrow{From: accepting, On: evConnected, To: up}, arrow{From: accepting, On: evClose, To: closed},
	arrow{From: up, On: evBroke, To: broken}, arrow{From: up, On: evQuiesce, To: quiesced}, arrow{From: up, On: evClose, To: closed},
	arrow{From: broken, On: evQuiesce, To: quiesced}, arrow{From: broken, On: evClose, To: closed},
	arrow{From: quiesced, On: evBroke, To: quiesced}, arrow{From: quiesced, On: evQuiesce, To: quiesced},
	arrow{From: quiesced, On: evClose, To: closed},
	arrow{From: closed, On: evQuiesce, To: closed}, arrow{From: closed, On: evClose, To: closed},
)

// note is the only place that writes an endpoint's state.
func (ep *endpoint) note(e event) {
	if !life.Note(&ep.state, e) {
		panic("rc: endpoint is " + ep.state.String() + ", can't be: " + e.String())
	}
}
