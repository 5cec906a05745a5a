package worker

import (
	"errors"

	"github.com/openbraid/braid/internal/wire"
)

// Suspect takes a lane for lost without a reason that the network knows.
func (ep *Endpoint) Suspect(id wire.Instance) { ep.lose(ep.find(id), errors.New("suspected")) }

// Connection is a lane's transport endpoint.
func (ep *Endpoint) Connection(id wire.Instance) any { return ep.find(id).Tep }

// Dump is the state of the hand-over machine.
func (ep *Endpoint) Dump() string { return ep.hand.Dump() }

// Live is the number of requests that are out.
func (w *Worker) Live() int { return w.pool.Live() }

// Filling says whether a fragment of a message is being read into its place on a lane.
func (ep *Endpoint) Filling(id wire.Instance) bool {
	l := ep.find(id)
	return l != nil && l.filling != nil
}
