package sim

// Arrival is something that can happen next in a steered network.
type Arrival struct {
	Host  string // where it arrives
	Local string // the address of the connection's end there
	Error bool   // the news that the connection is cut, which comes before what is still in flight, or after it
	ep    *endpoint
}

// Arrivals are all that can happen next: one for each direction that has something in flight, and one for each end that can be
// told that it is cut; in the order in which connections were made. Only the oldest thing of a direction can arrive.
func (n *Net) Arrivals() (as []Arrival) {
	for _, ep := range n.endpoints {
		if ep.life != up && ep.life != lost && ep.life != quiesced {
			continue
		}
		a := Arrival{Host: ep.iface.host.name, Local: ep.local, ep: ep}
		if ep.peer != nil && ep.peer.out.unseen() != nil && !ep.deaf {
			as = append(as, a)
		}
		if ep.failAt == never && ep.life == up {
			a.Error = true
			as = append(as, a)
		}
	}
	return as
}

// Let lets it happen: the next Progress of that host sees it.
func (n *Net) Let(a Arrival) {
	if a.Error {
		a.ep.failAt = n.now
		return
	}
	it := a.ep.peer.out.unseen()
	it.first, it.last = n.now, n.now
}

// unseen is the oldest item that has not arrived, nil if there is none.
func (p *pipe) unseen() *item {
	for i := p.head; i < p.tail; i++ {
		if it := &p.ring[i&uint64(len(p.ring)-1)]; it.first == never {
			return it
		}
	}
	return nil
}

// BreakLocal breaks the connection of which one end has this address.
func (n *Net) BreakLocal(local string, k Kind) {
	for _, ep := range n.endpoints {
		if ep.local == local {
			n.Break(ep, k, Both)
			return
		}
	}
}
