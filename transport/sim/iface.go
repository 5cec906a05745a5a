package sim

import (
	"fmt"
	"time"

	"github.com/openbraid/braid/transport"
)

var errPlace = fmt.Errorf("sink: Place returned memory of another size than it was asked for")

// Iface is one worker's interface to the network.
type Iface struct {
	net       *Net
	host      *Host
	endpoints []*endpoint
	listeners []*listener
	in        transport.Incoming // of the frame being handed over
	gone      bool               // an endpoint closed: the list wants tidying
	inside    bool               // within Progress
	closed    bool
}

// listener is a bound address and the connections that wait there.
type listener struct {
	iface   *Iface
	rail    *rail
	addr    string
	owner   transport.Acceptor
	backlog []*endpoint
	closed  bool
}

// Attr implements transport.Iface.
func (i *Iface) Attr() transport.Attr {
	c := &i.net.cfg
	return transport.Attr{Name: "sim", MaxHead: c.MaxHead, MaxFrame: c.MaxFrame, InOrder: true, ZeroCopy: c.ZeroCopy}
}

// Listen implements transport.Iface. Addresses are "rail:port".
func (i *Iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	n := i.net
	fail := func(err error) (transport.Listener, error) {
		return nil, &Error{Op: "listen", Local: addr, Err: err}
	}
	if i.closed {
		return fail(transport.ErrClosed)
	}
	r, port, err := n.split(addr)
	if err != nil {
		return fail(err)
	}
	if r == nil || r.host != i.host {
		return fail(errRail)
	}
	if port == "0" {
		addr = n.address(r)
	}
	if n.listeners[addr] != nil {
		return fail(errInUse)
	}
	l := &listener{iface: i, rail: r, addr: addr, owner: a}
	n.listeners[addr] = l
	i.listeners = append(i.listeners, l)
	return l, nil
}

// Addr implements transport.Listener.
func (l *listener) Addr() string { return l.addr }

// Close implements transport.Listener. Connections that were not announced end.
func (l *listener) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	delete(l.iface.net.listeners, l.addr)
	for _, ep := range l.backlog {
		ep.Close()
	}
	l.backlog = nil
	return nil
}

// Dial implements transport.Iface.
func (i *Iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	n := i.net
	fail := func(err error) (transport.Endpoint, error) {
		return nil, &Error{Op: "dial", Local: local, Remote: remote, Err: err}
	}
	if i.closed {
		return fail(transport.ErrClosed)
	}
	r := i.host.pick(local)
	if r == nil {
		return fail(errRail)
	}
	far, _, err := n.split(remote)
	if err != nil {
		return fail(err)
	}
	ep := n.newEndpoint(i, r, dialing, o)
	ep.sink, ep.remote, ep.local = s, remote, n.address(r)
	n.note(Dialed, ep, 0, 0)
	there := &n.cfg.Link
	if far != nil {
		there = n.link(r, far)
	}
	ep.failErr, ep.failAt = errTimeout, n.now+n.cfg.DialTimeout
	n.schedule(event{at: ep.failAt, kind: expire, ep: ep})
	n.schedule(event{at: n.now + n.delay(there), kind: knock, ep: ep})
	return ep, nil
}

// Progress implements transport.Iface.
func (i *Iface) Progress() int {
	if i.inside {
		panic(&Error{Op: "progress", Local: i.host.name, Err: fmt.Errorf("called from inside a callback")})
	}
	if i.closed {
		return 0
	}
	i.inside = true
	count := 0
	for k := 0; k < len(i.listeners); k++ {
		count += i.listeners[k].accept()
	}
	if total := len(i.endpoints); total > 0 {
		first := 0
		if total > 1 && !i.net.cfg.Calm {
			first = i.net.luck.below(total)
		}
		for k := 0; k < total && !i.closed; k++ { // those that callbacks add have their turn next time
			if ep := i.endpoints[(first+k)%total]; ep.life != closed {
				count += ep.progress()
				count += ep.acknowledge()
			}
		}
	}
	i.inside = false
	i.tidy()
	return count
}

// accept announces the connections that came in.
func (l *listener) accept() int {
	count := 0
	for len(l.backlog) > 0 && !l.closed {
		ep := l.backlog[0]
		l.backlog = append(l.backlog[:0], l.backlog[1:]...)
		ep.life = up
		count++
		l.iface.net.note(Accepted, ep, 0, 0)
		sink, o := l.owner.Accepted(ep)
		if sink == nil {
			ep.Close()
			continue
		}
		ep.sink = sink
		ep.setWindow(o)
	}
	return count
}

func (i *Iface) tidy() {
	if !i.gone {
		return
	}
	i.gone = false
	live := i.endpoints[:0]
	for _, ep := range i.endpoints {
		if ep.life != closed {
			live = append(live, ep)
		}
	}
	clear(i.endpoints[len(live):])
	i.endpoints = live
	bound := i.listeners[:0]
	for _, l := range i.listeners {
		if !l.closed {
			bound = append(bound, l)
		}
	}
	clear(i.listeners[len(bound):])
	i.listeners = bound
}

// Flush implements transport.Iface.
func (i *Iface) Flush() {
	for _, ep := range i.endpoints {
		ep.flush()
	}
}

// Deadline implements transport.Iface.
func (i *Iface) Deadline() time.Duration {
	var d time.Duration
	for _, ep := range i.endpoints {
		if ep.life == up && ep.ackDue != 0 && (d == 0 || ep.ackDue < d) {
			d = ep.ackDue
		}
	}
	return d
}

// Watch implements transport.Iface.
func (i *Iface) Watch(bool) {}

// EventFD implements transport.Iface: there is none.
func (i *Iface) EventFD() int { return -1 }

// Close implements transport.Iface.
func (i *Iface) Close() error {
	if i.closed {
		return nil
	}
	i.closed = true
	i.host.iface = nil
	for _, l := range i.listeners {
		l.Close()
	}
	for k := 0; k < len(i.endpoints); k++ {
		i.endpoints[k].Close()
	}
	i.endpoints, i.listeners = nil, nil
	return nil
}
