package fabric

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
)

// Config is the shape of a network. The zero value delivers at once.
type Config struct {
	Latency   time.Duration // of each datagram
	Inbox     int           // bytes that wait at a port; default 4 MiB
	LinkBytes int           // default 4200
}

// Net is a network. It is for one goroutine at a time.
type Net struct {
	cfg    Config
	now    time.Duration
	ports  map[netip.AddrPort]*Port // looked up, never walked
	owners map[netip.Addr]rdma.MAC  // who has an address
	downs  map[netip.Addr]bool      // whose link is down
	all    []*Port
	flight []*datagram // by time: latency is the same for all
	free   []*datagram
	macs   byte
	lost   int
	sum    packet.Sum
	watch  packet.Watcher
}

type datagram struct {
	at   time.Duration
	from netip.AddrPort
	to   netip.AddrPort
	mac  rdma.MAC
	data []byte
}

// New makes a network.
func New(cfg Config) *Net {
	if cfg.Inbox == 0 {
		cfg.Inbox = 4 << 20
	}
	if cfg.LinkBytes == 0 {
		cfg.LinkBytes = 4200
	}
	return &Net{cfg: cfg, now: time.Microsecond, ports: map[netip.AddrPort]*Port{}, owners: map[netip.Addr]rdma.MAC{}, downs: map[netip.Addr]bool{}}
}

// Watch shows all that is delivered from now on to w; nil ends it.
func (n *Net) Watch(w packet.Watcher) { n.watch = w }

// Now is the virtual time.
func (n *Net) Now() time.Duration { return n.now }

// Lost is how many datagrams reached nobody: no port, another MAC, a full inbox.
func (n *Net) Lost() int { return n.lost }

// Port makes a carrier at addr. The address gets a MAC of its own if it has none.
func (n *Net) Port(addr netip.AddrPort) (*Port, error) {
	if !addr.IsValid() || addr.Port() == 0 {
		return nil, fmt.Errorf("%w: a port of the network needs an address and a UDP port, not %v", rdma.ErrInvalid, addr)
	}
	if n.ports[addr] != nil {
		return nil, fmt.Errorf("fabric: %v is taken", addr)
	}
	if n.owners[addr.Addr()] == (rdma.MAC{}) {
		n.owners[addr.Addr()] = n.newMAC()
	}
	p := &Port{net: n, addr: addr, mac: n.owners[addr.Addr()], down: n.downs[addr.Addr()]}
	if p.down {
		p.events = append(p.events, carrier.Event{Type: carrier.Down})
	}
	n.ports[addr] = p
	n.all = append(n.all, p)
	return p, nil
}

func (n *Net) newMAC() rdma.MAC {
	n.macs++
	return rdma.MAC{2, 0, 0, 0, 0, n.macs}
}

// Move gives an address to another MAC, as when a machine takes over another's address, and tells all ports. Datagrams for the
// old one are lost, those in flight too.
func (n *Net) Move(addr netip.Addr) rdma.MAC {
	mac := n.newMAC()
	n.owners[addr] = mac
	for _, p := range n.all {
		if p.addr.Addr() == addr {
			p.mac = mac
		} else {
			p.events = append(p.events, carrier.Event{Type: carrier.Neighbour, Addr: addr})
		}
	}
	return mac
}

// SetLink takes an address's link down, or up again, also for ports that are made later.
func (n *Net) SetLink(addr netip.Addr, up bool) {
	what := carrier.Down
	if up {
		what = carrier.Up
	}
	n.downs[addr] = !up
	for _, p := range n.all {
		if p.addr.Addr() == addr && p.down == up {
			p.down = !up
			p.events = append(p.events, carrier.Event{Type: what})
		}
	}
}

// Step goes to the next delivery, but not beyond limit (0: none), and says whether time or anything moved.
func (n *Net) Step(limit time.Duration) bool {
	if len(n.flight) == 0 || limit != 0 && n.flight[0].at > limit {
		if limit > n.now {
			n.now = limit
			return true
		}
		return false
	}
	n.now = max(n.now, n.flight[0].at)
	i := 0
	for ; i < len(n.flight) && n.flight[i].at <= n.now; i++ {
		n.deliver(n.flight[i])
	}
	n.flight = append(n.flight[:0], n.flight[i:]...)
	return true
}

func (n *Net) deliver(d *datagram) {
	p := n.ports[d.to]
	if p == nil || p.mac != d.mac || p.down || p.waiting+len(d.data) > n.cfg.Inbox {
		n.lost++
		n.free = append(n.free, d)
		return
	}
	if n.watch != nil {
		n.watch(n.now, packet.Flow{Src: d.from, Dst: d.to}, d.data)
	}
	p.waiting += len(d.data)
	p.inbox = append(p.inbox, d)
}

// get takes a datagram from the pool.
func (n *Net) get() *datagram {
	if k := len(n.free); k > 0 {
		d := n.free[k-1]
		n.free = n.free[:k-1]
		return d
	}
	return &datagram{data: make([]byte, 0, 4096+packet.MaxOverhead)}
}

// Port is one end of the network: a carrier.
type Port struct {
	net     *Net
	addr    netip.AddrPort
	mac     rdma.MAC
	inbox   []*datagram
	head    int // of inbox: handed out before
	waiting int // bytes
	events  []carrier.Event
	down    bool
	closed  bool
}

var _ carrier.Carrier = (*Port)(nil)

// Local implements carrier.Carrier.
func (p *Port) Local() netip.AddrPort { return p.addr }

// LinkBytes implements carrier.Carrier.
func (p *Port) LinkBytes() int { return p.net.cfg.LinkBytes }

// MAC implements carrier.Carrier.
func (p *Port) MAC() rdma.MAC { return p.mac }

// BufferBytes implements carrier.Carrier.
func (p *Port) BufferBytes() int { return p.net.cfg.Inbox }

// Sources implements carrier.Carrier.
func (p *Port) Sources() []uint16 { return nil }

// Resolve looks the neighbour up.
func (p *Port) Resolve(to netip.AddrPort, _ uint32) (carrier.Route, error) {
	mac, ok := p.net.owners[to.Addr()]
	if !ok || to.Addr().Is4() != p.addr.Addr().Is4() {
		return carrier.Route{}, fmt.Errorf("%w: no neighbour %v", rdma.ErrUnreachable, to.Addr())
	}
	return carrier.Route{To: to, MAC: mac}, nil
}

// Send implements carrier.Carrier.
func (p *Port) Send(batch []carrier.Out) int {
	n := p.net
	for _, o := range batch {
		if p.down {
			n.lost++
			continue
		}
		n.sum.Seal(packet.Flow{Src: p.addr, Dst: o.Route.To}, o.Data, 0)
		d := n.get()
		d.at, d.from, d.to, d.mac = n.now+n.cfg.Latency, p.addr, o.Route.To, o.Route.MAC
		d.data = append(d.data[:0], o.Data...)
		if n.cfg.Latency == 0 {
			n.deliver(d)
		} else {
			n.flight = append(n.flight, d)
		}
	}
	return len(batch)
}

// Recv implements carrier.Carrier.
func (p *Port) Recv(batch []carrier.In) int {
	p.net.free = append(p.net.free, p.inbox[:p.head]...)
	p.inbox = append(p.inbox[:0], p.inbox[p.head:]...)
	n := 0
	for ; n < len(batch) && n < len(p.inbox); n++ {
		d := p.inbox[n]
		batch[n] = carrier.In{From: d.from, Data: d.data}
		p.waiting -= len(d.data)
	}
	p.head = n
	return n
}

// Inject puts bytes into the port's inbox as if from had sent them, sealed or not: for tests of bad input.
func (p *Port) Inject(from netip.AddrPort, b []byte, seal bool) {
	d := p.net.get()
	d.from, d.to, d.mac = from, p.addr, p.mac
	d.data = append(d.data[:0], b...)
	if seal && len(b) >= packet.SendOnly.Len(0) {
		p.net.sum.Seal(packet.Flow{Src: from, Dst: p.addr}, d.data, 0)
	}
	p.net.deliver(d)
}

// MaxID implements carrier.Carrier: there are no identifications here.
func (p *Port) MaxID() uint16 { return 0 }

// Event implements carrier.Carrier.
func (p *Port) Event() (carrier.Event, bool) {
	if len(p.events) == 0 {
		return carrier.Event{}, false
	}
	e := p.events[0]
	p.events = p.events[1:]
	return e, true
}

// FD implements carrier.Carrier.
func (p *Port) FD() int { return -1 }

// Deadline implements carrier.Carrier: now, if something waits; else when the first datagram for anybody arrives.
func (p *Port) Deadline() time.Duration {
	if len(p.inbox) > p.head || len(p.events) > 0 {
		return p.net.now
	}
	if len(p.net.flight) > 0 {
		return p.net.flight[0].at
	}
	return 0
}

// Close frees the address's port.
func (p *Port) Close() error {
	if !p.closed {
		p.closed = true
		delete(p.net.ports, p.addr)
		p.net.free = append(p.net.free, p.inbox...)
		p.inbox = nil
	}
	return nil
}
