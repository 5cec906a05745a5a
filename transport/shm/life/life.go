//go:build linux

package shm

import "github.com/openbraid/braid/internal/fsm"

// state is where an endpoint is in its life.
//
//	connecting ──stands──> up ──quiesce──> quiesced
//	    │                  │                  ^
//	    └──────broke───────┴──> broken ──quiesce
//	                                 close, from anywhere ──> closed
//
// In quiesced the engine gave it up; control frames are read while the connection lasts.
type state uint8

const (
	connecting state = iota
	up
	broken
	quiesced
	closed
)

func (s state) String() string {
	return [...]string{"connecting", "up", "broken", "quiesced", "closed"}[s]
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

	arrow{From: up, On: evBroke, To: broken},
	arrow{From: up, On: evQuiesce, To: quiesced},
	arrow{From: up, On: evClose, To: closed},

	arrow{From: broken, On: evQuiesce, To: quiesced},
	arrow{From: broken, On: evClose, To: closed},

	arrow{From: quiesced, On: evBroke, To: quiesced},
	arrow{From: quiesced, On: evQuiesce, To: quiesced},
	arrow{From: quiesced, On: evClose, To: closed},

	arrow{From: closed, On: evQuiesce, To: closed},
)
