package worker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/life"
	"github.com/openbraid/braid/internal/paths"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/internal/wire"
)

var errRail = errors.New("the rail can't be used any more")

// RailsChanged takes a new table of this host's rails, between turns: lanes on rails that are gone are given up at once, rails
// that came get lanes, and peers are told.
func (w *Worker) RailsChanged(rails []topo.Rail) {
	if w.closed {
		return
	}
	w.now = w.env.Now()
	was := w.ground.View
	w.ground.View.Rails = rails
	moves := was.Moves(w.ground.View)
	w.ground.Views++
	for _, ln := range w.listeners {
		ln.doors.Rebind()
	}
	for _, ep := range slices.Clone(w.endpoints) {
		ep.railsChanged(was, moves)
	}
	w.Flush()
}

func (ep *Endpoint) railsChanged(was topo.View, moves bool) {
	ep.box.Declared(ep.w.now, ep.w.ground.Runs)
	if ep.terms.Mode != wire.ModeFailover {
		return // a lane that is given up would be the end of it
	}
	for _, l := range append(slices.Clone(ep.up), ep.opening...) {
		if why := was.Gone(ep.w.ground.View, topo.HostOf(l.Tep.Local())); why != "" {
			ep.lose(l, fmt.Errorf("%w: %s", errRail, why))
		}
	}
	switch {
	case ep.over(), !moves:
	case ep.side == wire.Acceptor:
		ep.tellRails()
	case ep.redials():
		ep.paths.Changed(was)
	}
}

// redials says whether lanes are still opened: a first one is up or was, and none is left that a close could go on.
func (ep *Endpoint) redials() bool {
	return ep.paths != nil && ep.state != life.Dialing && !ep.over() && ep.terms.Mode == wire.ModeFailover && (ep.state != life.Closing || len(ep.up) == 0)
}

// Stranded implements paths.Host.
func (ep *Endpoint) Stranded() bool { return len(ep.up) == 0 }

// GivenUp implements paths.Host.
func (ep *Endpoint) GivenUp(p *paths.Path) {
	ep.w.event(delivery.Event{Kind: delivery.LaneGivenUp, Endpoint: ep, Lane: p.String(), Dialed: true, Err: p.Reason})
}

// tellRails tells the peer where this side listens, if that has changed. On each lane, since any may die: the last word on each is the newest.
func (ep *Endpoint) tellRails() {
	if !ep.terms.Rails || ep.ln.closed {
		return
	}
	addrs := ep.ln.doors.Told(ep.here, ep.addr, wire.MaxAddrs)
	if len(addrs) == 0 || len(ep.up) == 0 || slices.Equal(addrs, ep.announced) { // a lane that comes up tells it by itself
		return
	}
	ep.announced = addrs
	for _, l := range ep.up {
		l.post(wire.IDRails, wire.Rails{Addrs: addrs}.AppendTo(ep.w.Head[:0]))
	}
}

// railsArrived takes where the peer listens from now on.
func (ep *Endpoint) railsArrived(m wire.Rails) error {
	if ep.side == wire.Acceptor {
		return errors.New("a Rails may come only from the side that accepted the endpoint")
	}
	if ep.redials() {
		ep.paths.Heard(m.Addrs)
	}
	return nil
}
