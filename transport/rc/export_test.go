package rc

import (
	"fmt"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
)

// Numbers are the queue pairs of an endpoint and of its peer.
func Numbers(ep transport.Endpoint) (own, peer uint32) {
	e := ep.(*endpoint)
	if e.qp == nil {
		return 0, e.call.peer
	}
	return e.qp.Num(), e.call.peer
}

// StartAt has the indices of new send rings begin there.
func StartAt(o Options, at uint16) Options {
	o.startAt = at
	return o
}

// Life is the table of states.
func Life() string { return life.Matrix() }

// Devices are the open devices of an interface.
func Devices(i transport.Iface) (list []rdma.Device) {
	for _, p := range i.(*iface).ports {
		list = append(list, p.dev)
	}
	return list
}

// Check says which invariant of the books does not hold; "" is none.
func Check(i transport.Iface) string {
	for _, p := range i.(*iface).ports {
		under := 0
		for _, ep := range p.eps {
			if ep == nil {
				continue
			}
			r := &ep.ring
			blocks := 0
			for k := r.head; k != r.tail; k++ {
				blocks += int(r.wrs[k&uint32(len(r.wrs)-1)].blocks)
			}
			under += r.len()
			switch {
			case int(r.pi-r.done) != blocks || blocks > int(r.blocks):
				return fmt.Sprintf("ring: pi %d, done %d, %d blocks are under way, of %d", r.pi, r.done, blocks, r.blocks)
			case r.late > 0:
				return fmt.Sprintf("%d completions ended nothing", r.late)
			case ep.flow.left() < 0:
				return fmt.Sprintf("sent %d segments, granted are %d", ep.flow.sent, ep.flow.limit)
			case ep.state > up && !r.frozen && ep.state != closed:
				return fmt.Sprintf("%v, and its ring is not frozen", ep.state)
			}
		}
		if c := &p.credits; c.free < 0 || c.free+c.kept+under != c.depth {
			return fmt.Sprintf("send queue: %d free, %d kept, %d under way, of %d", c.free, c.kept, under, c.depth)
		}
	}
	return ""
}

// Leak is what an interface whose endpoints are closed, and which has had its turns, has not given back; "" is nothing.
func Leak(i transport.Iface) string {
	f := i.(*iface)
	if f.timers.Next() != 0 || f.owing.first != nil {
		return "a timer"
	}
	for _, p := range f.ports {
		for _, ep := range p.eps {
			if ep != nil {
				return fmt.Sprintf("an endpoint, %v", ep.state)
			}
		}
		free := 0
		for _, list := range p.mem.free {
			free += len(list)
		}
		switch {
		case p.credits.free != p.credits.depth:
			return fmt.Sprintf("places of the send queue: %+v", p.credits)
		case p.halfOpen != 0 || len(p.farewells) != 0 || len(p.mail.handles) != 0 || len(p.credits.line) != 0:
			return fmt.Sprintf("%d half open, %d farewells, %d handles, %d in line", p.halfOpen, len(p.farewells), len(p.mail.handles), len(p.credits.line))
		case free+1 != p.mem.all:
			return fmt.Sprintf("%d blocks of memory, of %d", p.mem.all-free-1, p.mem.all)
		}
		for _, b := range p.recvs {
			if b.free != b.depth {
				return fmt.Sprintf("places of a receive queue: %+v", b.credits)
			}
		}
	}
	return ""
}
