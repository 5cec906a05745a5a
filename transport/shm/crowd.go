//go:build linux

package shm

import (
	"slices"

	"github.com/openbraid/braid/transport/shm/crowd"
	"github.com/openbraid/braid/transport/shm/life"
	"github.com/openbraid/braid/transport/shm/ring"
)

// Where an endpoint is in its life, and what moves it on.
const (
	connecting, up, broken, quiesced, closed = life.Connecting, life.Up, life.Broken, life.Quiesced, life.Closed
	evStands, evBroke, evQuiesce, evClose    = life.Stands, life.Broke, life.Quiesce, life.Close
)

// shape is that of the rings of the next connection that is dialed, which is in the list already.
func (f *iface) shape() ring.Shape {
	return crowd.Shape(ring.Shape{Slots: f.o.Slots, Data: f.o.Data}, len(f.eps))
}

// Place implements crowd.Member.
func (ep *endpoint) Place() *crowd.Place { return &ep.place }

// Lie implements crowd.Member.
func (ep *endpoint) Lie() bool {
	if ep.state != up || ep.failing != nil || ep.in == nil || ep.blocked || ep.acks.Heard != 0 {
		return false
	}
	if !ep.lies {
		ep.lie()
	}
	return ep.lies
}

// sweep forgets closed endpoints. Not during a turn, when somebody walks over the lists.
func (f *iface) sweep() {
	if !f.turn.gone {
		return
	}
	f.turn.gone = false
	f.eps = slices.DeleteFunc(f.eps, func(ep *endpoint) bool {
		if ep.state == closed {
			f.crowd.Leave(ep)
		}
		return ep.state == closed
	})
}
