package rc

import (
	"net/netip"
	"slices"
	"time"

	"github.com/openbraid/braid/internal/ledger"
	"github.com/openbraid/braid/internal/mpool"
	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/mail"
	"github.com/openbraid/braid/transport/rc/wire"
)

// iface is one worker's ports.
type iface struct {
	env    transport.Env
	o      Options
	pool   *mpool.Pool // of frames that are put together
	ports  []*port
	timers timer.Set
	poll   poll.Poller             // its descriptor is that of all devices, which come and go
	owing  ledger.Owing[*endpoint] // acknowledgements that may wait a little

	dirty  []*endpoint // Flush has something to do for them
	later  []*endpoint // Progress has
	closed bool
	inside bool

	unwatched bool // nobody waits for the descriptor
	now       time.Duration

	scratch
}

// scratch is memory that calls share, because only one of them runs at a time.
type scratch struct {
	wcs      [64]rdma.WC
	events   [16]rdma.Event
	incoming transport.Incoming
	serving  []*endpoint
	batch    batch
	recvs    struct {
		wrs  [16]rdma.RecvWR
		sges [16][1]rdma.SGE
	}
}

// Attr implements transport.Iface. A payload is never sent from where it stands: the engine may want it back at any time
// (Endpoint.Detach), and a device can't be made to let go of it without ending the connection.
func (f *iface) Attr() transport.Attr {
	return transport.Attr{Name: "rc", Frame: 400 * time.Nanosecond, MaxHead: wire.MaxHead, MaxFrame: maxFrame, InOrder: true}
}

// Dial implements transport.Iface.
func (f *iface) Dial(local, remote string, o transport.Options, s transport.Sink) (transport.Endpoint, error) {
	fail := func(err error) (transport.Endpoint, error) {
		return nil, &Error{Transport: "rc", Op: "dial", Local: local, Remote: remote, Err: err}
	}
	if f.closed {
		return fail(transport.ErrClosed)
	}
	if err := f.o.protects(o); err != nil {
		return fail(err)
	}
	to, err := mail.ParseAddr(remote)
	if err != nil {
		return fail(err)
	}
	var from netip.Addr
	if local != "" {
		if from, err = netip.ParseAddr(local); err != nil {
			return fail(err)
		}
		from = from.Unmap()
	}
	p, err := f.portFor(from, to)
	if err != nil {
		return fail(err)
	}
	ep, err := p.endpoint(connecting, o)
	if err != nil {
		return fail(err)
	}
	ep.sink, ep.remote = s, to.String()
	ep.call.dial(ep, p.ways.Letter(rdma.GIDFrom(to.Addr()), to.Port()))
	return ep, nil
}

// portFor finds or opens the port that dials from an address, or to one.
func (f *iface) portFor(from netip.Addr, to netip.AddrPort) (*port, error) {
	for _, p := range f.ports {
		if p.dead == nil && (from.IsValid() && p.addr.Addr() == from || !from.IsValid() && p.towards == to.Addr()) {
			return p, mail.Reaches(p.ways.GID, to.Addr())
		}
	}
	for _, a := range []netip.Addr{from, to.Addr()} {
		if err := f.o.trusted(a); a.IsValid() && err != nil {
			return nil, err
		}
	}
	p, err := f.open(Place{Local: netip.AddrPortFrom(from, 0), Remote: to})
	if err != nil {
		return nil, err
	}
	if !from.IsValid() {
		p.towards = to.Addr()
	}
	return p, mail.Reaches(p.ways.GID, to.Addr())
}

// Listen implements transport.Iface. The port of addr is that of the device: packets of all its connections come there.
func (f *iface) Listen(addr string, a transport.Acceptor) (transport.Listener, error) {
	fail := func(err error) (transport.Listener, error) {
		return nil, &Error{Transport: "rc", Op: "listen", Local: addr, Err: err}
	}
	if f.closed {
		return fail(transport.ErrClosed)
	}
	at, err := mail.ParseAddr(addr)
	if err != nil {
		return fail(err)
	}
	if at.Addr().IsUnspecified() {
		return fail(errOneAddr)
	}
	if err := f.o.trusted(at.Addr()); err != nil {
		return fail(err)
	}
	p, err := f.portAt(at)
	if err != nil {
		return fail(err)
	}
	return p.listen(a), nil
}

// open opens a device.
func (f *iface) open(at Place) (*port, error) {
	at.Now = f.env.Now
	dev, err := f.o.Open(at)
	if err != nil {
		return nil, err
	}
	p := &port{f: f, dev: dev}
	p.down = timer.New(p.stillDown)
	p.farewells = mail.Farewells{Timers: &f.timers, Now: f.env.Now, Tell: p.tell}
	if err := p.open(at); err != nil {
		p.mail.Close()
		_ = dev.Close()
		return nil, err
	}
	f.ports = append(f.ports, p)
	if dev.Port().State != rdma.PortActive {
		p.isDown()
	}
	f.watch(dev.EventFD(), poll.None, poll.Readable)
	f.watch(p.mail.EventFD(), poll.None, poll.Readable)
	return p, nil
}

// watch has a device's descriptor wake whoever sleeps, or not any more.
func (f *iface) watch(fd int, was, want poll.Interest) {
	if fd >= 0 && !f.o.Polled {
		_ = f.poll.Set(fd, was, want)
	}
}

// Progress implements transport.Iface.
func (f *iface) Progress() (n int) {
	if f.closed {
		return 0
	}
	if f.inside {
		panic("rc: Progress was called from inside a callback")
	}
	f.inside = true
	defer func() { f.inside = false }()
	f.now = f.env.Now()
	n = f.leftovers()
	for i := 0; i < len(f.ports); i++ { // grows when a callback dials
		if n += f.ports[i].progress(); f.closed {
			return n
		}
	}
	n += f.timers.Run(f.now)
	f.sweep()
	return n
}

// leftovers does what calls outside of Progress found to do but may not do themselves.
func (f *iface) leftovers() (n int) {
	if len(f.later) == 0 {
		return 0
	}
	batch := f.later
	f.later = f.serving[:0] // what is added meanwhile waits for the next turn
	for _, ep := range batch {
		ep.later = false
		n += ep.leftovers()
	}
	clear(batch)
	f.serving = batch[:0]
	return n
}

// sweep closes ports that nobody needs any more.
func (f *iface) sweep() {
	f.ports = slices.DeleteFunc(f.ports, func(p *port) bool {
		if !p.unused() {
			return false
		}
		p.close()
		return true
	})
}

// Flush implements transport.Iface.
func (f *iface) Flush() {
	f.overdue(f.now)
	for i := 0; i < len(f.dirty); i++ { // grows when a flush makes room for more
		ep := f.dirty[i]
		ep.dirty = false
		ep.flush()
		if ep.owes() {
			ep.acks.Wait(&f.owing, ep, f.now+ledger.AckDelay)
		}
	}
	clear(f.dirty)
	f.dirty = f.dirty[:0]
	if !f.unwatched {
		f.arm()
	}
}

// arm has completions wake whoever sleeps; false: there are some already.
func (f *iface) arm() bool {
	ok := true
	for _, p := range f.ports {
		ok = p.arm() && ok
	}
	return ok
}

// Deadline implements transport.Iface. Who asks may sleep until then, so the completion queues are armed.
func (f *iface) Deadline() time.Duration {
	at := f.timers.Next()
	sooner := func(t time.Duration) {
		if t > 0 && (at == 0 || t < at) {
			at = t
		}
	}
	if at, ok := f.owing.Next(); ok {
		sooner(max(1, at))
	}
	for _, p := range f.ports {
		sooner(p.dev.Deadline())
		sooner(p.mail.Deadline())
	}
	if !f.arm() || len(f.later) > 0 {
		sooner(max(1, f.env.Now()))
	}
	return at
}

// EventFD implements transport.Iface.
func (f *iface) EventFD() int {
	if f.closed || f.o.Polled {
		return -1
	}
	return f.poll.FD()
}

// Watch implements transport.Iface: completion queues are armed while somebody waits.
func (f *iface) Watch(on bool) {
	if f.unwatched = !on; on {
		f.arm()
	}
}

// Close implements transport.Iface.
func (f *iface) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	for _, p := range f.ports {
		for _, ep := range p.eps {
			if ep != nil {
				ep.Close()
				ep.finish() // nothing lingers
			}
		}
		p.close()
	}
	f.ports, f.dirty, f.later = nil, nil, nil
	f.owing = ledger.Owing[*endpoint]{}
	f.pool.Close()
	if f.o.Polled {
		return nil
	}
	return f.poll.Close()
}

// overdue has those send that have waited long enough.
func (f *iface) overdue(now time.Duration) {
	for ep, ok := f.owing.Overdue(now); ok; ep, ok = f.owing.Overdue(now) {
		ep.acks.Now = true
		ep.soil()
	}
}
