package rc

import (
	"net/netip"
	"slices"

	"github.com/openbraid/braid/internal/poll"
	"github.com/openbraid/braid/internal/timer"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc/mail"
	"github.com/openbraid/braid/transport/rc/queue"
	"github.com/openbraid/braid/transport/rc/window"
	"github.com/openbraid/braid/transport/rc/wire"
)

// halfOpen is how many connections of a listener may be without a word of the dialer after its request.
const halfOpen = 64

// port is one open device: one local address.
type port struct {
	f       *iface
	dev     rdma.Device
	pd      rdma.PD
	addr    netip.AddrPort
	towards netip.Addr // opened to dial there, from whatever address leads there
	mem     queue.Memory
	mail    mail.Office
	ways    mail.Ways

	can  ability
	send rdma.CQ
	keys *window.Binder
	supply

	eps       []*endpoint // by slot
	uses      []uint16    // of each slot, so that a late completion of a former user is known as one
	halfOpen  int
	farewells mail.Farewells
	listener  *listener
	armed     bool // the completion queues are, and nothing came since
	ending
}

// ending is how a port ends.
type ending struct {
	dead   error        // the device failed, or is let go of
	down   *timer.Timer // runs while the port is down
	closed bool
}

// supply is what all endpoints of a port share, and who waits for it, in order.
type supply struct {
	credits queue.Credits // places in port.send
	recvs   queue.Banks
	line    []*endpoint
	reads   queue.Reads
	readers []*endpoint
}

// ability is what the device can.
type ability struct {
	blocks int // that a work request takes at most
	inline int // bytes of the largest segment that it copies
}

// open makes what every connection needs. On an error the device is to be closed.
func (p *port) open(at Place) (err error) {
	p.ways = mail.Ways{Device: p.dev, TrafficClass: p.f.o.TrafficClass, HopLimit: p.f.o.HopLimit}
	if p.pd, err = p.dev.AllocPD(); err != nil {
		return err
	}
	if err = p.ways.Choose(p.pd, mail.Wanted{Local: at.Local.Addr(), Peer: at.Remote.Addr(), Index: p.f.o.GIDIndex}); err != nil {
		return err
	}
	if err = p.f.o.trusted(p.ways.GID.GID.IP()); err != nil {
		return err
	}
	p.mem.PD, p.recvs.Device = p.pd, p.dev
	p.can.blocks, p.can.inline = p.dev.Attr().MaxWRBlocks, min(maxInline, p.dev.Attr().MaxInline)
	depth := min(p.f.o.SendCQ, p.dev.Attr().MaxCQE)
	if p.send, err = p.dev.CreateCQ(depth); err != nil {
		return err
	}
	p.credits, p.reads = queue.NewCredits(depth), queue.NewReads(p.f.o.ReadBytes)
	p.keys = window.New(window.Config{
		Device: p.dev, Memory: &p.mem, Way: p.ways.Self(), Timers: &p.f.timers, Now: p.f.env.Now, Rand: p.f.env.Rand,
	})
	return p.openMail(at)
}

// openMail makes what connections are made with. The port's address is where its datagrams arrive.
func (p *port) openMail(at Place) (err error) {
	c := mail.Config{Device: p.dev, Memory: &p.mem, PSN: uint32(p.f.env.Rand())}
	if p.f.o.OpenMail != nil {
		at.Local = netip.AddrPortFrom(p.ways.GID.GID.IP(), at.Local.Port())
		if c.Device, err = p.f.o.OpenMail(at, p.dev); err != nil {
			return err
		}
		c.Memory = nil
	}
	c.Said = func(m *wire.Message, from rdma.GID, udp uint16) { p.said(m, p.ways.Letter(from, udp)) }
	if err = p.mail.Open(c); err == nil {
		p.ways.Row, p.ways.Port = p.mail.Row(p.ways.GID), p.mail.Port()
		p.addr = netip.AddrPortFrom(p.ways.GID.GID.IP(), p.ways.Port)
	}
	return err
}

// slot finds a number for an endpoint.
func (p *port) slot(ep *endpoint) uint32 {
	i := slices.Index(p.eps, nil)
	if i < 0 {
		i = len(p.eps)
		p.eps, p.uses = append(p.eps, nil), append(p.uses, 0)
	}
	p.eps[i] = ep
	return uint32(i)
}

// release frees an endpoint's slot.
func (p *port) release(ep *endpoint) {
	p.eps[ep.slot] = nil
	p.uses[ep.slot]++
}

// owner is whose work request has this ID, nil if that one is gone.
func (p *port) owner(id uint64) *endpoint {
	slot := id >> 32
	if slot >= uint64(len(p.eps)) || p.uses[slot] != uint16(id>>16) {
		return nil
	}
	return p.eps[slot]
}

// progress is one turn of the port: what was sent, what came, what was said, what happened. Room comes back before anybody is told.
func (p *port) progress() (n int) {
	if p.dead != nil {
		return p.mail.Progress(p.f.wcs[:]) // farewells
	}
	n = p.dev.Progress()
	n += p.keys.Progress(p.f.wcs[:])
	n += p.pollSends()
	n += p.pollReceives()
	if p.closed {
		return n
	}
	n += p.mail.Progress(p.f.wcs[:])
	if p.armed = p.armed && n == 0; p.closed {
		return n
	}
	n += p.pollEvents()
	if !p.closed {
		p.mem.Trim()
	}
	return n
}

// pollSends takes completions of what was sent, then lets those post who wait for places.
func (p *port) pollSends() (n int) {
	wcs := p.f.wcs[:]
	for {
		k := p.send.Poll(wcs)
		for i := range wcs[:k] {
			if ep := p.owner(wcs[i].ID); ep != nil {
				ep.sendEnded(&wcs[i])
			}
		}
		if n += k; k < len(wcs) {
			p.credits.Empty()
			break
		}
	}
	p.serve()
	if p.reads.Settle() && len(p.readers) > 0 {
		p.readers[0].soil()
	}
	return n
}

// queueUp puts an endpoint in line for a place in the send queue.
func (p *port) queueUp(ep *endpoint) {
	if !ep.inLine {
		ep.inLine = true
		p.line = append(p.line, ep)
	}
}

// serve lets those post who wait, as far as there are places.
func (p *port) serve() {
	for n := p.credits.Free; n > 0 && len(p.line) > 0; n-- {
		ep := p.line[0]
		p.line[0] = nil
		p.line = p.line[1:]
		ep.inLine = false
		ep.soil()
	}
}

// turnReceives bounds what one turn takes of each completion queue, before the others have their turn.
const turnReceives = 512

func (p *port) pollReceives() (n int) {
	for _, b := range p.recvs.All {
		for budget := turnReceives; budget > 0; budget -= len(p.f.wcs) {
			wcs := p.f.wcs[:]
			k := b.CQ.Poll(wcs)
			for i := range wcs[:k] {
				if ep := p.owner(wcs[i].ID); ep != nil {
					ep.received(&wcs[i])
				}
				if p.closed {
					return n + i + 1
				}
			}
			if n += k; k < len(wcs) {
				b.Empty()
				break
			}
		}
	}
	return n
}

// pollEvents takes what happened by itself.
func (p *port) pollEvents() (n int) {
	for k := p.dev.PollEvents(p.f.events[:]); k > 0; k = p.dev.PollEvents(p.f.events[:]) {
		for _, e := range p.f.events[:k] {
			if p.happened(&e); p.closed || p.dead != nil {
				return n + 1
			}
			n++
		}
	}
	return n
}

// happened says who is concerned by an event.
func (p *port) happened(e *rdma.Event) {
	all := func(*endpoint) bool { return true }
	switch e.Type {
	case rdma.EventPortDown:
		p.lose(all, errPortDown)
		p.isDown()
	case rdma.EventPortActive:
		p.f.timers.Stop(p.down)
	case rdma.EventDeviceFatal:
		p.f.env.Log.Error("the RDMA device failed; new connections open another", "device", p.dev.Attr().Name, "address", p.addr)
		p.gone(errFatal)
	case rdma.EventCQOverrun:
		p.lose(all, errOverrun)
	case rdma.EventGIDChange:
		own, rows := p.ways.GID, p.dev.GIDs()
		switch {
		case slices.Contains(rows, own):
		case slices.ContainsFunc(rows, func(g rdma.GIDEntry) bool { return g.GID == own.GID && g.Type == own.Type }):
			p.gone(errOwnMoved) // it has another row now, and much here knows the old one
		default:
			p.lose(all, errOwnMoved)
		}
	case rdma.EventNeighbour:
		p.mail.Moved(e.GID)
		// Who is only asking asks again, by then in the new place.
		p.lose(func(ep *endpoint) bool { return ep.call.to.DGID == e.GID && ep.state != connecting }, errMoved)
	case rdma.EventQPFatal, rdma.EventQPRequest, rdma.EventQPAccess:
		p.lose(func(ep *endpoint) bool { return ep.qp == e.QP }, errViolation)
	case rdma.EventEstablished, rdma.EventSQDrained, rdma.EventLastWQE:
	}
}

// lose breaks the endpoints that are concerned.
func (p *port) lose(which func(*endpoint) bool, why error) {
	for i := 0; i < len(p.eps) && !p.closed; i++ {
		if ep := p.eps[i]; ep != nil && which(ep) {
			ep.lost(ep.wrap("port", transport.ErrReset, why))
		}
	}
}

// isDown: a port that stays down is let go of.
func (p *port) isDown() {
	if !p.closed {
		p.f.timers.Set(p.down, p.f.env.Now()+letGoAfter)
	}
}

// stillDown is the timer.
func (p *port) stillDown() {
	if p.dead == nil && p.dev.Port().State != rdma.PortActive {
		p.gone(errPortDown)
	}
}

// gone: the device failed, or is let go of. Nothing keeps it open: what endpoints will still be asked is in books.
func (p *port) gone(why error) {
	p.dead = &Error{Transport: "rc", Op: "port", Local: p.addr.String(), Err: why}
	p.lose(func(*endpoint) bool { return true }, why)
	for _, ep := range p.eps {
		if ep != nil {
			ep.finish()
		}
	}
	if p.listener != nil {
		p.listener.waits()
	}
}

// arm has completions wake whoever sleeps; false: there are some already.
func (p *port) arm() bool {
	if p.armed || p.dead != nil {
		return true
	}
	ok := p.send.Arm(false)
	ok = p.mail.Arm() && ok
	ok = p.keys.Arm() && ok
	for _, b := range p.recvs.All {
		ok = b.CQ.Arm(false) && ok
	}
	p.armed = ok
	return ok
}

// unused says whether the port can be closed: a device that nobody listens on and nobody uses.
func (p *port) unused() bool {
	if p.listener != nil || p.farewells.Len() > 0 || p.mail.Out() > 0 && p.dead == nil {
		return false
	}
	return !slices.ContainsFunc(p.eps, func(ep *endpoint) bool { return ep != nil })
}

// close ends the device and what is left of it.
func (p *port) close() {
	if p.closed {
		return
	}
	p.closed = true
	p.keys.Close()
	p.f.timers.Stop(p.down)
	p.farewells.Stop()
	p.listener = nil
	p.f.watch(p.dev.EventFD(), poll.Readable, poll.None)
	p.f.watch(p.mail.EventFD(), poll.Readable, poll.None)
	p.mail.Close()
	p.mem.Close()
	_ = p.dev.Close()
}
