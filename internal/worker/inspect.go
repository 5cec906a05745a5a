package worker

import (
	"github.com/openbraid/braid/internal/inspect"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/timer"
)

// Inspect is everything that there is to see, for people and tools.
func (w *Worker) Inspect() inspect.Worker {
	d := inspect.Worker{Mode: "shared", HalfOpen: w.Strangers().HalfOpen, Endpoints: []inspect.Endpoint{}}
	for _, l := range w.listeners {
		d.Listeners = append(d.Listeners, inspect.Listener{Addrs: l.doors.Addrs()})
	}
	for _, ep := range w.endpoints {
		d.Endpoints = append(d.Endpoints, ep.Inspect())
	}
	return d
}

// Inspect is what there is to see of one endpoint: it is also what is logged when a deadline expires.
func (ep *Endpoint) Inspect() inspect.Endpoint {
	s, now := ep.Stats(), ep.w.env.Now()
	d := inspect.Endpoint{
		ID: ep.id, Side: ep.side.String(), Peer: ep.addr, Name: ep.peer, State: ep.state.String(), Mode: ep.terms.Mode.String(), Error: inspect.Text(ep.err),
		Lanes: []inspect.Lane{}, Exchange: ep.hand.Waiting(), Paths: ep.paths.Inspect(), Unused: ep.paths.Unused(), Work: ep.box.Inspect(),
		Counts: inspect.Counts{Puts: s.Puts, Gets: s.Gets, Messages: s.Messages, Handovers: s.Handovers, LanesUp: s.LanesUp, LanesLost: s.LanesLost, ReplayedBytes: s.ReplayedBytes, BadFrames: s.BadFrames},
	}
	for _, l := range ep.links() {
		l.Fault = ep.blame(l)
		x := l.Inspect(now)
		x.Suspect, x.Reason = l.State() == lane.Up && l.alive.Suspect(), inspect.Text(l.reason)
		x.Rate, x.Order = ep.box.Brings(&l.Lane)
		d.Lanes = append(d.Lanes, x)
	}
	for i, t := range []*timer.Timer{ep.suspend, ep.deadline, ep.dialWait, ep.live.tick} {
		if at, ok := t.Due(); ok {
			d.Timers = append(d.Timers, inspect.Timer{What: inspect.Timers[i], InS: (at - now).Seconds()})
		}
	}
	return d
}
