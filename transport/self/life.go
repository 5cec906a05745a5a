package self

import "github.com/openbraid/braid/internal/fsm"

// state is where an endpoint is in its life.
//
//	connecting ──stands──┐  ┌──broke──> broken ──quiesce──┐
//	                     ├> up ──────────quiesce──────────┴─> quiesced
//	waiting ─────stands──┘
//	             connecting: broke, quiesce; any: close ──> closed
//
// waiting is the far end of a dial before its acceptor was told. In quiesced the engine gave it up; control frames are still read.
type state uint8

const (
	connecting state = iota
	waiting
	up
	broken
	quiesced
	closed
)

func (s state) String() string {
	return [...]string{"connecting", "waiting", "up", "broken", "quiesced", "closed"}[s]
}

// event moves an endpoint on.
type event uint8

const (
	evStands event = iota
	evBroke
	evQuiesce
	evClose
)

func (e event) String() string { return [...]string{"stands", "broke", "quiesce", "close"}[e] }

type arrow = fsm.Row[state, event]

var life = fsm.New(closed, evClose,
	arrow{From: connecting, On: evStands, To: up},
	arrow{From: connecting, On: evBroke, To: broken},
	arrow{From: connecting, On: evQuiesce, To: quiesced},
	arrow{From: connecting, On: evClose, To: closed},

	arrow{From: waiting, On: evStands, To: up},
	arrow{From: waiting, On: evClose, To: closed},

	arrow{From: up, On: evBroke, To: broken},
	arrow{From: up, On: evQuiesce, To: quiesced},
	arrow{From: up, On: evClose, To: closed},

	arrow{From: broken, On: evQuiesce, To: quiesced},
	arrow{From: broken, On: evClose, To: closed},

	arrow{From: quiesced, On: evQuiesce, To: quiesced},
	arrow{From: quiesced, On: evClose, To: closed},

	arrow{From: closed, On: evQuiesce, To: closed},
)

// note is the only place that writes an endpoint's state.
func (ep *endpoint) note(e event) {
	if !life.Note(&ep.state, e) {
		panic("self: endpoint is " + ep.state.String() + ", can't be: " + e.String())
	}
}
