//go:build linux

package shm

import (
	"github.com/openbraid/braid/transport/shm/crowd"
	"github.com/openbraid/braid/transport/shm/ring"
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
