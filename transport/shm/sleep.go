//go:build linux

package shm

import (
	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/ring"
	"github.com/openbraid/braid/transport/shm/segment"
)

// Watch implements transport.Iface.
func (f *iface) Watch(on bool) {
	if f.closed {
		return
	}
	f.turn.watched = on
	for i := 0; on && i < len(f.eps); i++ {
		ep := f.eps[i]
		if ep.settle(); ep.acks.Heard != 0 {
			ep.postpone()
			f.ring()
		}
	}
	if on && f.turn.awake > 0 {
		f.lie()
	}
}

// lie has every endpoint say that this side sleeps.
func (f *iface) lie() {
	for _, ep := range f.crowd.Polled { // who dozes lies
		if !ep.lies {
			ep.lie()
		}
	}
}

// lie says that this side sleeps, for what it wants to be woken, and looks once more. Who finds something then, and takes his word
// back, rings the own bell; else the peer is about to ring.
func (ep *endpoint) lie() {
	if ep.in == nil || ep.fault&Deaf != 0 {
		return
	}
	what := ring.ForFrames
	if ep.blocked {
		what |= ring.ForRoom
	}
	ep.rise(false)
	self := ep.in.Self()
	self.Lie(what)
	if (ep.ready() || ep.blocked && ep.out.Freed()) && self.Rouse(what) {
		ep.rise(true)
		ep.f.ring()
		ep.f.crowd.Stir(ep, ep.f.turn.count) // nobody rings for one that dozes and doesn't lie
	}
}

// rise notes whether the endpoint is up and about.
func (ep *endpoint) rise(awake bool) {
	if ep.lies == awake {
		ep.lies = !awake
		if awake {
			ep.f.turn.awake++
		} else {
			ep.f.turn.awake--
		}
	}
}

// ring makes the own descriptor readable.
func (f *iface) ring() {
	if !f.turn.rung {
		f.turn.rung = true
		_, _ = unix.Write(f.bell, one[:])
	}
}

var one = [8]byte{1}

// hush makes it unreadable again.
func (f *iface) hush() {
	var b [8]byte
	f.turn.rung = false
	_, _ = unix.Read(f.bell, b[:])
}

// rouse wakes the peer if he sleeps and there is something for him.
func (ep *endpoint) rouse() {
	if ep.wake != 0 && ep.out.Rouse(ep.wake) {
		segment.Ring(ep.fd)
	}
	ep.wake = 0
}

// fired: the socket has something to tell.
func (ep *endpoint) fired() int {
	if ep.fd < 0 || ep.fault&Deaf != 0 {
		return 0
	}
	if ep.state == connecting {
		return ep.answered()
	}
	switch gone, err := ep.listen(); {
	case err != nil:
		ep.fail("connection", err)
	case gone:
		ep.f.unwatch(ep.fd) // or it would be told again and again
		ep.fail("connection", errGone)
	}
	ep.rise(true)
	ep.f.crowd.Stir(ep, ep.f.turn.count)
	return 0
}
