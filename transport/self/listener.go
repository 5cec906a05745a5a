package self

import (
	"slices"

	"github.com/openbraid/braid/transport"
)

// listener is a bound address.
type listener struct {
	f      *iface
	port   int
	owner  transport.Acceptor
	closed bool
}

// Listen implements transport.Iface. Addresses are "self:port".
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	port, err := parse(addr)
	switch {
	case f.closed:
		err = transport.ErrClosed
	case err == nil && port == 0:
		port = f.pick()
	case err == nil && f.listener(port) != nil:
		err = ErrInUse
	}
	if err != nil {
		return nil, &Error{Op: opListen, Local: addr, Err: err}
	}
	l := &listener{f: f, port: port, owner: a}
	f.listeners = append(f.listeners, l)
	return l, nil
}

// listener is the one at a port, or nil.
func (f *iface) listener(port int) *listener {
	for _, l := range f.listeners {
		if l.port == port {
			return l
		}
	}
	return nil
}

// pick is a port at which nobody listens. Listeners are few, so that there always is one.
func (f *iface) pick() int {
	for {
		if f.lastPort++; f.lastPort > lastPort {
			f.lastPort = firstPort
		}
		if f.listener(f.lastPort) == nil {
			return f.lastPort
		}
	}
}

// Addr implements transport.Listener.
func (l *listener) Addr() string { return address(l.port) }

// Close implements transport.Listener. Dials that were not announced find nobody.
func (l *listener) Close() error {
	if !l.closed {
		l.closed = true
		l.f.listeners = slices.DeleteFunc(l.f.listeners, func(o *listener) bool { return o == l })
	}
	return nil
}
