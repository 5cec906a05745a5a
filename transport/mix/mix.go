package mix

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/internal/rota"
	"github.com/openbraid/braid/transport"
)

// Part is a transport and the addresses that are its own.
type Part struct {
	Transport transport.Transport
	// Takes says whether an address, without its port, belongs to this transport.
	Takes func(host string) bool
}

type mix struct {
	rest  transport.Transport
	parts []Part
}

// New makes one transport of several. The first part that takes an address has it; rest has those that no part takes.
//
// Source: the lanes of one ucp_ep over several uct_iface.
func New(rest transport.Transport, parts ...Part) transport.Transport {
	m := &mix{rest, parts}
	for _, t := range m.all() {
		if l, ok := t.(transport.Lender); ok {
			return lending{m, l}
		}
	}
	return m
}

// lending is a mix of which a part can lend memory: the first one that can does.
type lending struct {
	*mix
	transport.Lender
}

// Name implements transport.Transport.
func (*mix) Name() string { return "mix" }

func (m *mix) all() []transport.Transport {
	list := []transport.Transport{m.rest}
	for _, p := range m.parts {
		list = append(list, p.Transport)
	}
	return list
}

// Open implements transport.Transport.
func (m *mix) Open(env transport.Env) (transport.Iface, error) {
	f := &iface{m: m, now: env.Now}
	for _, t := range m.all() {
		i, err := t.Open(env)
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		f.ifaces = append(f.ifaces, i)
		f.rota.Add(i)
	}
	return f, f.watch()
}

// iface is one interface of each part, rest first.
type iface struct {
	m      *mix
	now    func() time.Duration
	ifaces []transport.Iface
	rota   rota.Rota // of them
	poll   poll.Poller
	polled bool // poll is open
	closed bool
}

// watch makes one descriptor of all, if each part has one.
func (f *iface) watch() error {
	for _, i := range f.ifaces {
		if i.EventFD() < 0 {
			return nil
		}
	}
	if err := f.poll.Open(); err != nil {
		_ = f.Close()
		return err
	}
	f.polled = true
	for _, i := range f.ifaces {
		if err := f.poll.Set(i.EventFD(), poll.None, poll.Readable); err != nil {
			_ = f.Close()
			return err
		}
	}
	return nil
}

// of is the interface that an address belongs to.
func (f *iface) of(host string) transport.Iface {
	for k, p := range f.m.parts {
		if p.Takes(host) {
			return f.ifaces[k+1]
		}
	}
	return f.ifaces[0]
}

func (f *iface) at(addr string) (transport.Iface, error) {
	host, _, err := net.SplitHostPort(addr)
	return f.of(host), err
}

// Attr implements transport.Iface.
func (f *iface) Attr() transport.Attr {
	a := f.ifaces[0].Attr()
	for _, i := range f.ifaces[1:] {
		b := i.Attr()
		a.MaxHead, a.MaxFrame = min(a.MaxHead, b.MaxHead), min(a.MaxFrame, b.MaxFrame)
		a.InOrder = a.InOrder && b.InOrder
		a.Asks = a.Asks || b.Asks
	}
	a.Name = "mix"
	return a
}

// Listen implements transport.Iface.
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	if f.closed {
		return nil, fmt.Errorf("mix: listen %s: %w", addr, transport.ErrClosed)
	}
	i, err := f.at(addr)
	if err != nil {
		return nil, err
	}
	return i.Listen(addr, a)
}

// Dial implements transport.Iface. The local address, if there is one, must be of the same part.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	if f.closed {
		return nil, fmt.Errorf("mix: dial %s: %w", remote, transport.ErrClosed)
	}
	i, err := f.at(remote)
	if err != nil {
		return nil, err
	}
	if local != "" && f.of(local) != i {
		return nil, fmt.Errorf("mix: dial %s from %s: they belong to different transports, %s and %s", remote, local, i.Attr().Name, f.of(local).Attr().Name)
	}
	return i.Dial(local, remote, o, s)
}

// Progress implements transport.Iface.
func (f *iface) Progress() int { return f.rota.Progress(f.now()) }

// Flush implements transport.Iface.
func (f *iface) Flush() { f.rota.Flush() }

// Deadline implements transport.Iface.
func (f *iface) Deadline() time.Duration { return f.rota.Deadline() }

// EventFD implements transport.Iface.
func (f *iface) EventFD() int {
	if !f.polled || f.closed {
		return -1
	}
	return f.poll.FD()
}

// Watch implements transport.Iface.
func (f *iface) Watch(on bool) { f.rota.Watch(on) }

// Close implements transport.Iface.
func (f *iface) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	var all []error
	for _, i := range f.ifaces {
		all = append(all, i.Close())
	}
	if f.polled {
		all = append(all, f.poll.Close())
	}
	return errors.Join(all...)
}
