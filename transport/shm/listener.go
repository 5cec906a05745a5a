//go:build linux

package shm

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/greeting"
	"github.com/openbraid/braid/transport/shm/segment"
)

const (
	backlog        = 1024
	acceptsPerTurn = 16
	// mostGuests connections may lack their offer, each for guestTime.
	mostGuests = 64
	guestTime  = 2 * time.Second
	pauseFor   = 100 * time.Millisecond

	firstPort, ports = 32768, 28000 // made up ones
)

// Prefix is what the host of addresses begins with that were made up on this host; "": there is no shared memory.
func Prefix() string {
	if boot := segment.Boot(); boot != "" {
		return Host + "." + boot + "."
	}
	return ""
}

// Usable tries what a connection needs of the system, and says what is missing.
func Usable() error {
	if err := segment.Try(); err != nil {
		return newError(Error{Op: "open", Err: err})
	}
	return nil
}

type listener struct {
	f        *iface
	fd       int
	addr     string
	acceptor transport.Acceptor
	paused   time.Duration // until then; 0: not
}

// Listen implements transport.Iface. Of host and port any will do: they name a socket on this host. At "shm:0" the name is made up, and tells by
// itself which host it is of.
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	if f.closed {
		return nil, newError(Error{Op: "listen", Local: addr, Err: transport.ErrClosed})
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return nil, newError(Error{Op: "listen", Local: addr, Err: ErrAddress})
	}
	l := &listener{f: f, addr: addr, acceptor: a}
	if port == "0" {
		l.fd, l.addr, err = f.makeUp(host)
	} else {
		l.fd, err = segment.Listen(addr, backlog)
	}
	if err == nil {
		if err = f.watch(l.fd, watched{ln: l}); err != nil {
			unix.Close(l.fd)
		}
	}
	if err != nil {
		return nil, newError(Error{Op: "listen", Local: addr, Err: err})
	}
	f.listeners = append(f.listeners, l)
	return l, nil
}

// makeUp listens at a name that nobody has.
func (f *iface) makeUp(host string) (fd int, addr string, err error) {
	for range 1000 {
		f.number++
		if host == Host {
			if f.prefix == "" {
				return -1, "", segment.ErrBoot
			}
			addr = net.JoinHostPort(fmt.Sprintf("%s%016x%08x", f.prefix, f.env.Rand(), f.number), "1")
		} else {
			addr = net.JoinHostPort(host, strconv.Itoa(firstPort+int(f.number%ports)))
		}
		if fd, err = segment.Listen(addr, backlog); err != unix.EADDRINUSE {
			return fd, addr, err
		}
	}
	return -1, "", unix.EADDRINUSE
}

// Addr implements transport.Listener.
func (l *listener) Addr() string { return l.addr }

// Close implements transport.Listener.
func (l *listener) Close() error {
	if l.fd < 0 {
		return nil
	}
	l.f.unwatch(l.fd)
	err := unix.Close(l.fd)
	l.fd = -1
	l.f.listeners = slices.DeleteFunc(slices.Clone(l.f.listeners), func(x *listener) bool { return x == l })
	for _, g := range slices.Clone(l.f.guests) {
		if g.l == l {
			g.leave()
		}
	}
	return err
}

// accept takes a bounded number of connections.
func (l *listener) accept() (n int) {
	for n < acceptsPerTurn && l.fd >= 0 {
		fd, err := segment.Accept(l.fd)
		if err == unix.EAGAIN {
			return n
		}
		if err != nil && err != unix.EINTR && err != unix.ECONNABORTED {
			l.pause(err)
			return n
		}
		if n++; err != nil {
			continue
		}
		if len(l.f.guests) >= mostGuests {
			l.f.guests[0].leave() // who has said nothing for longest
		}
		g := &guest{l: l, fd: fd, until: l.f.env.Now() + guestTime}
		if g.peer, err = l.f.mayCome(fd); err != nil {
			g.refuse(greeting.OtherUser)
			continue
		}
		if l.f.watch(fd, watched{guest: g}) != nil {
			unix.Close(fd)
			continue
		}
		l.f.guests = append(l.f.guests, g)
		l.f.turn.expected++
		n += g.hear()
	}
	return n
}

// pause stops accepting for a while: without a descriptor to be had the socket would stay readable, and the worker would spin.
func (l *listener) pause(err error) {
	l.f.unwatch(l.fd)
	l.paused = l.f.env.Now() + pauseFor
	l.f.env.Log.Warn("connections wait: they can't be accepted now", "err", newError(Error{Op: "accept", Local: l.addr, Err: err}), "again_in", pauseFor)
}

// resume has listeners accept again that paused.
func (f *iface) resume() {
	for _, l := range f.listeners {
		if l.paused > 0 && f.env.Now() >= l.paused {
			l.paused = 0
			_ = f.watch(l.fd, watched{ln: l})
		}
	}
}

// mayCome asks the system whose process is at the other end.
func (f *iface) mayCome(fd int) (process int, err error) {
	process, uid, err := segment.Peer(fd)
	if err == nil && uid != unix.Geteuid() && !f.o.AnyUser {
		err = fmt.Errorf("%w: user %d, this one is %d", ErrUser, uid, unix.Geteuid())
	}
	return process, err
}

// guest is a connection that has not said what it offers.
type guest struct {
	l     *listener
	fd    int
	peer  int // process
	until time.Duration
}

// hear takes the offer, if it is there.
func (g *guest) hear() int {
	f := g.l.f
	if g.fd < 0 {
		return 0
	}
	n, fd, cut, err := segment.Receive(g.fd, f.message[:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return 0
	}
	if err != nil || n == 0 {
		if fd >= 0 {
			unix.Close(fd)
		}
		g.leave()
		return 1
	}
	o, c := greeting.ParseOffer(f.message[:n])
	if c == greeting.Welcome && (cut || fd < 0) {
		c = greeting.BadOffer
	}
	if c != greeting.Welcome {
		if fd >= 0 {
			unix.Close(fd)
		}
		g.refuse(c)
		return 1
	}
	g.admit(o, fd)
	return 1
}

// admit makes an endpoint of the guest.
func (g *guest) admit(o greeting.Offer, fd int) {
	f, l := g.l.f, g.l
	seg, err := f.attach(g.peer, fd, 2*o.Shape.Size())
	if err != nil {
		c := greeting.BadOffer
		if f.lacks("accept", l.addr, err) {
			c = greeting.NoRoom
		}
		g.refuse(c)
		return
	}
	host, _, _ := strings.Cut(l.addr, ".")
	if host != Host {
		host, _, _ = net.SplitHostPort(l.addr)
	}
	ep := f.endpoint(l.addr, net.JoinHostPort(host, portName(o.Number)))
	ep.state = up
	ep.fd, ep.peer = g.fd, g.peer
	g.fd = -1
	g.leave()
	half := o.Shape.Size()
	if err := ep.rings(seg, seg.Bytes()[half:], seg.Bytes()[:half], o.Shape); err != nil {
		ep.Close()
		return
	}
	sink, opts := l.acceptor.Accepted(ep)
	if sink == nil {
		ep.Close()
	}
	if ep.state == closed {
		return
	}
	ep.sink = sink
	ep.setWindow(opts)
	if err := segment.Send(ep.fd, greeting.Answer{Mark: f.offered()}.Bytes(), -1); err != nil {
		ep.fail("accept", err)
	}
	f.adopt(ep)
	ep.tryPeer(o.Mark)
}

// refuse says why not, and hangs up.
func (g *guest) refuse(c greeting.Code) {
	_ = segment.Send(g.fd, greeting.Answer{Code: c}.Bytes(), -1)
	g.leave()
}

// leave ends the guest's stay.
func (g *guest) leave() {
	f := g.l.f
	if i := slices.Index(f.guests, g); i >= 0 {
		f.guests = slices.Delete(f.guests, i, i+1)
		f.turn.expected--
	}
	if g.fd >= 0 {
		f.unwatch(g.fd)
		unix.Close(g.fd)
		g.fd = -1
	}
}

// expire hangs up on guests that say nothing.
func (f *iface) expire() (n int) {
	if len(f.guests) == 0 {
		return 0
	}
	now := f.env.Now()
	for _, g := range slices.Clone(f.guests) {
		if now >= g.until {
			g.leave()
			n++
		}
	}
	return n
}
