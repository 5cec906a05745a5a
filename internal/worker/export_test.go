package worker

import (
	"errors"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

// Suspect takes a lane for lost without a reason that the network knows.
func (ep *Endpoint) Suspect(id wire.Instance) {
	if l := ep.find(id); l != nil {
		ep.lose(l, errors.New("suspected"))
	}
}

// Connection is a lane's transport endpoint.
func (ep *Endpoint) Connection(id wire.Instance) any { return ep.find(id).Tep }

// Dump is the state of the hand-over machine.
func (ep *Endpoint) Dump() string { return ep.hand.Dump() }

// Live is the number of requests that are out.
func (w *Worker) Live() int { return w.pool.Live() }

// Filling says whether a fragment of a message is being read into its place on a lane.
func (ep *Endpoint) Filling(id wire.Instance) bool {
	l := ep.find(id)
	return l != nil && l.landing.Fills()
}

// Lane is the Hello for a further lane of the endpoint, as the peer would say it.
func (ep *Endpoint) Lane(n uint64) wire.Hello {
	h := wire.Hello{
		Optional: wire.CapHandover, Instance: wire.Instance{Opener: ep.side.Other(), N: n}, Nonce: [16]byte{byte(n)}, Mode: wire.ModeFailover,
		Incarnation: ep.names.Yours.Incarnation, Endpoint: ep.names.Yours.Endpoint, PeerIncarnation: ep.names.Mine.Incarnation, PeerEndpoint: ep.names.Mine.Endpoint,
		MaxFrame: 64 << 10, MaxMessage: 1 << 20, Backlog: 1 << 20, ReplyCredits: 4, Keepalive: 1000, PeerTimeout: 10000,
	}
	h.Join = wireup.JoinProof(ep.key, &h)
	return h
}
