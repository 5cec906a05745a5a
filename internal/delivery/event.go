package delivery

import (
	"time"

	"github.com/openbraid/braid/internal/wire"
)

// Kind says what happened to an endpoint.
type Kind uint8

const (
	LaneUp     Kind = iota
	LaneDown        // a lane is lost; its operations are being handed over
	HandedOver      // everything that was outstanding on a lost lane is executed
	Suspended       // no lane is left; the endpoint keeps its work and tries to get one back
	Resumed
	Failed
	TurnedAway  // a peer that dialed a listener; there is no endpoint
	LaneGivenUp // a lane that is not dialed any more, while another one carries on
)

func (k Kind) String() string {
	return [...]string{"LaneUp", "LaneDown", "HandedOver", "Suspended", "Resumed", "Failed", "TurnedAway", "LaneGivenUp"}[k]
}

// Event is told to who asked for it. Which fields are set depends on the kind.
type Event struct {
	Kind     Kind
	At       time.Duration // of the worker's clock
	Endpoint any           // whose user the program knows; nil: none
	Lane     string        // "local->remote"
	Instance wire.Instance
	Dialed   bool // this side opened the lane
	Err      error
	Fault    string // of LaneDown: whose it looks like
	// Of LaneDown and HandedOver, in bytes of frames: what this side had posted on the lane and what it had accepted from it. Of LaneDown also: what
	// the peer had acknowledged of what was posted. Of HandedOver also: what the peer had accepted (its own count), and what was posted again.
	Posted, Acked, Accepted, PeerAccepted, Replayed uint64
}
