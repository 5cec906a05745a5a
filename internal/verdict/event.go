package verdict

import "time"

// Event is what happened to a lane or an endpoint, and a line of an events file. Times are of the run's clock.
type Event struct {
	T        float64 `json:"t"` // seconds since the end of the warm-up
	Side     string  `json:"side"`
	Endpoint string  `json:"endpoint,omitempty"` // address of the peer
	Lane     int     `json:"lane"`               // slot; -1: none, or not known
	Name     string  `json:"name,omitempty"`     // "local->remote"
	Instance string  `json:"instance,omitempty"`
	Device   string  `json:"device,omitempty"`
	Event    string  `json:"event"` // one of Kinds
	Error    string  `json:"error,omitempty"`
	Rule     string  `json:"rule,omitempty"` // of FaultOn and FaultOff

	Posted       uint64 `json:"posted,omitempty"` // bytes, of LaneDown and HandedOver
	Acked        uint64 `json:"acked,omitempty"`  // of LaneDown
	PeerAccepted uint64 `json:"peer_accepted,omitempty"`
	Replayed     uint64 `json:"replayed,omitempty"`

	Local, Remote string        `json:"-"`
	At            time.Duration `json:"-"`
}

// What events are called that are judged, or are the injector's.
const (
	LaneUp     = "LaneUp"
	LaneDown   = "LaneDown"
	HandedOver = "HandedOver"
	failed     = "Failed"
	FaultOn    = "FaultOn"  // a rule came into force
	FaultOff   = "FaultOff" // and is over
)

// Kinds are all that events are called: as braid.EventKind calls them, in its order, and those of the injector. Programs read these names, and the
// fields of Event, in the file of --events: they stay as they are.
var Kinds = [...]string{LaneUp, LaneDown, HandedOver, "Suspended", "Resumed", failed, "TurnedAway", "LaneGivenUp", FaultOn, FaultOff}
