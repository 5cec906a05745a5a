package tcp

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/transport"
)

const (
	acceptsPerTurn = 16
	// pauseFor is how long a listener rests when the process has no descriptor left: its socket would stay
	// readable, and the worker would spin.
	pauseFor = 100 * time.Millisecond
	// complainEvery keeps the log readable meanwhile.
	complainEvery = 10 * time.Second
)

type listener struct {
	f        *iface
	fd       int
	addr     string
	acceptor transport.Acceptor
	interest poll.Interest
	paused   time.Duration // until then; 0: not
	quiet    time.Duration // no complaint until then
}

// Listen implements transport.Iface.
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	if f.closed {
		return nil, newError(Error{Op: "listen", Local: addr, Err: transport.ErrClosed})
	}
	at, err := parseAddr(addr)
	if err != nil {
		return nil, newError(Error{Op: "listen", Local: addr, Err: err})
	}
	fd, err := listenSocket(at, &f.o)
	if err != nil {
		return nil, newError(Error{Op: "listen", Local: addr, Err: err})
	}
	l := &listener{f: f, fd: fd, addr: nameOf(unix.Getsockname(fd)), acceptor: a}
	if err := l.watch(poll.Readable); err != nil {
		unix.Close(fd)
		return nil, newError(Error{Op: "listen", Local: addr, Err: err})
	}
	f.listeners = append(f.listeners, l)
	f.turn.asked = true
	return l, nil
}

func (l *listener) watch(want poll.Interest) error {
	err := l.f.watch(l.fd, l.interest, want, watched{ln: l})
	l.interest = want
	return err
}

// Addr implements transport.Listener.
func (l *listener) Addr() string { return l.addr }

// Close implements transport.Listener.
func (l *listener) Close() error {
	if l.fd < 0 {
		return nil
	}
	_ = l.watch(poll.None)
	err := unix.Close(l.fd)
	l.fd, l.paused = -1, 0
	l.f.listeners = slices.DeleteFunc(slices.Clone(l.f.listeners), func(x *listener) bool { return x == l })
	return err
}

// accept takes a bounded number of connections.
func (l *listener) accept() (n int) {
	for n < acceptsPerTurn && l.fd >= 0 {
		fd, sa, err := sysAccept(l.fd)
		switch {
		case err == nil:
			l.accepted(fd, nameOf(sa, nil))
			n++
		case err == unix.EAGAIN:
			return n
		case err == unix.EINTR || err == unix.ECONNABORTED || err == unix.EPROTO:
			n++ // it came and went
		default:
			l.pause(err)
			return n
		}
	}
	return n
}

func (l *listener) accepted(fd int, remote string) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	ep := l.f.endpoint(fd, l.addr, remote, transport.Options{})
	ep.note(evConnected)
	sink, o := l.acceptor.Accepted(ep)
	if sink == nil {
		ep.Close()
	}
	if ep.state == closed {
		return
	}
	ep.sink = sink
	ep.setWindow(o)
	l.f.adopt(ep)
}

// pause stops watching for a while, and says so now and then.
func (l *listener) pause(err error) {
	now := l.f.env.Now()
	l.paused = now + pauseFor
	_ = l.watch(poll.None)
	if now >= l.quiet {
		l.quiet = now + complainEvery
		l.f.env.Log.Warn("connections wait: they can't be accepted now",
			"err", newError(Error{Op: "accept", Local: l.addr, Err: err}), "again_in", pauseFor)
	}
}

func (l *listener) resume() {
	l.paused = 0
	if l.fd >= 0 {
		_ = l.watch(poll.Readable)
	}
}
