package worker

import (
	"errors"

	"github.com/openbraid/braid/internal/health"
	"github.com/openbraid/braid/internal/lane"
	"github.com/openbraid/braid/internal/topo"
	"github.com/openbraid/braid/transport"
)

// ports counts the lanes of all endpoints by their host here. With thousands of endpoints nobody could look at all lanes for each that is lost,
// least of all when they all are.
type ports map[string]health.Others

// count adds a lane that is up or lost, or takes it off.
func (p ports) count(l *link, by int) {
	n := p[l.here]
	switch l.State() {
	case lane.Up:
		n.Up += by
	case lane.Lost:
		n.Lost += by
	case lane.Opening, lane.Closed:
		return
	}
	if p[l.here] = n; n == (health.Others{}) {
		delete(p, l.here)
	}
}

// Note is that of lane.Lane; the lane is counted.
func (l *link) Note(e lane.Event) {
	l.w.ports.count(l, -1)
	l.Lane.Note(e)
	if l.here == "" {
		l.here = topo.HostOf(l.Tep.Local())
	}
	l.w.ports.count(l, 1)
}

// blame says whose fault the loss of a lane looks like, by what has become of others that have an end in common with it: by now.
func (ep *Endpoint) blame(l *link) string {
	if l.State() != lane.Lost {
		return ""
	}
	c := health.Clues{Down: errors.Is(l.reason, errRail) || errors.Is(l.reason, transport.ErrPortDown), Left: len(ep.up)}
	c.Here = ep.w.ports[l.here]
	there := topo.HostOf(l.Tep.Remote())
	for _, x := range ep.links() {
		up := x.State() == lane.Up
		switch {
		case x.State() == lane.Opening:
			continue
		case x.here == l.here: // those to other peers are left
			c.Here.Forget(up)
		}
		if x != l && topo.HostOf(x.Tep.Remote()) == there {
			c.There.Note(up)
		}
	}
	return c.Blame().String()
}
