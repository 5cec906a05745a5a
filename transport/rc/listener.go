package rc

import (
	"net/netip"
	"time"

	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/mail"
)

const (
	// letGoAfter is how long a port may be down until its device is closed: whoever takes the device away may have to wait for that.
	letGoAfter = time.Second
	// tryAgain is how often a listener without a device tries to open it.
	tryAgain = 250 * time.Millisecond
)

// listener is where connections of a port are accepted. It outlives devices: while there is none it tries to open one.
type listener struct {
	f        *iface
	p        *port // nil: it waits for a device
	addr     netip.AddrPort
	acceptor transport.Acceptor
	closed   bool
	again    *timer.Timer
}

func (p *port) listen(a transport.Acceptor) *listener {
	l := &listener{f: p.f, p: p, addr: p.addr, acceptor: a}
	l.again = timer.New(l.open)
	p.listener = l
	return l
}

// portAt finds or opens the port to listen on. A listener that was closed leaves its device to the connections that it accepted; the address is free again.
func (f *iface) portAt(at netip.AddrPort) (*port, error) {
	for _, p := range f.ports {
		if p.addr == at && p.dead == nil && p.listener == nil {
			return p, nil
		}
	}
	p, err := f.open(Place{Local: at})
	if err == nil {
		err = mail.Reaches(p.ways.GID, at.Addr()) // else nobody reaches us
	}
	return p, err
}

// waits: its device is gone.
func (l *listener) waits() {
	l.f.env.Log.Warn("a listener waits for its RDMA device", "listener", l.addr, "reason", l.p.dead)
	l.p.listener, l.p = nil, nil
	l.f.timers.Set(l.again, l.f.env.Now()+tryAgain)
}

// open is the timer. A port that is still down is given up again, at the end of the turn.
func (l *listener) open() {
	p, err := l.f.portAt(l.addr)
	if err != nil || p.dev.Port().State != rdma.PortActive {
		l.f.timers.Set(l.again, l.f.env.Now()+tryAgain)
		return
	}
	l.p, p.listener = p, l
	l.f.env.Log.Info("a listener has its RDMA device again", "listener", l.addr)
}

// Addr implements transport.Listener.
func (l *listener) Addr() string { return l.addr.String() }

// Close implements transport.Listener. The device stays as long as connections use it.
func (l *listener) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	l.f.timers.Stop(l.again)
	if l.p == nil || l.p.listener != l {
		return nil
	}
	l.p.listener = nil
	for _, ep := range l.p.eps {
		if ep != nil && ep.state == accepting {
			ep.Close()
		}
	}
	return nil
}
