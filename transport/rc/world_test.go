package rc_test

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// network is devices in memory, with time that goes on by tick.
type network struct {
	testing.TB
	*fabric.Net
	rand   *rand.Rand
	nics   []*nic
	ifaces []transport.Iface
	rules  []carrier.Rule // of each device
	config func(*soft.Config)
	plain  bool // the devices have no windows
	hooks  *hooks
	port   uint16
}

// nic is a device and the faults in front of it.
type nic struct {
	*soft.Device
	faults *carrier.Faults
	gone   bool
	plain  bool
	bare   bool         // it has no address any more
	moved  bool         // its address has another row
	events []rdma.Event // that the device is to have said
	deaf   bool         // it hears of no neighbour that moved
	hooks  *hooks
}

// GIDs implements rdma.Device.
func (n *nic) GIDs() []rdma.GIDEntry {
	if n.bare {
		return nil
	}
	if n.hooks != nil && n.hooks.table != nil {
		return n.hooks.table
	}
	rows := n.Device.GIDs()
	if n.moved {
		rows[0].Index++
	}
	return rows
}

// say has the device say an event.
func (n *nic) say(e rdma.Event) { n.events = append(n.events, e) }

// Attr implements rdma.Device.
func (n *nic) Attr() rdma.DeviceAttr {
	a := n.Device.Attr()
	if n.plain {
		a.Windows = nil
	}
	return a
}

// PollEvents implements rdma.Device.
func (n *nic) PollEvents(dst []rdma.Event) int {
	if k := copy(dst, n.events); k > 0 {
		n.events = n.events[k:]
		return k
	}
	k := n.Device.PollEvents(dst)
	if n.deaf {
		return len(slices.DeleteFunc(dst[:k], func(e rdma.Event) bool { return e.Type == rdma.EventNeighbour }))
	}
	return k
}

// Close notes that the device has ended.
func (n *nic) Close() error {
	n.gone = true
	return n.Device.Close()
}

func newNetwork(t testing.TB, seed uint64, c fabric.Config) *network {
	return &network{TB: t, Net: fabric.New(c), rand: rand.New(rand.NewPCG(seed, 7)), port: 50000}
}

// open is rc.Options.Open.
func (w *network) open(local netip.Addr) func(rc.Place) (rdma.Device, error) {
	return func(at rc.Place) (rdma.Device, error) {
		addr, port := at.Local.Addr(), at.Local.Port()
		if !addr.IsValid() {
			addr = local
		}
		if port == 0 {
			w.port++
			port = w.port
		}
		p, err := w.Port(netip.AddrPortFrom(addr, port))
		if err != nil {
			return nil, err
		}
		f := carrier.WithFaults(p, w.Now, w.rand.Uint64, w.rules...)
		c := soft.Config{Carrier: f, Now: w.Now, Rand: w.rand.Uint64}
		if w.config != nil {
			w.config(&c)
		}
		d, err := soft.Open(c)
		if err != nil {
			return nil, err
		}
		n := &nic{Device: d, faults: f, plain: w.plain, hooks: w.hooks}
		w.nics = append(w.nics, n)
		return n, nil
	}
}

// iface opens an interface whose dials leave from local unless they say otherwise.
func (w *network) iface(local string, o rc.Options) transport.Iface {
	w.Helper()
	o.Open, o.Polled = w.open(netip.MustParseAddr(local)), true
	i, err := rc.New(o).Open(transport.Env{Now: w.Now, Rand: w.rand.Uint64, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		w.Fatal(err)
	}
	w.ifaces = append(w.ifaces, i)
	return i
}

// live are the devices that are open.
func (w *network) live() []*nic {
	w.nics = slices.DeleteFunc(w.nics, func(n *nic) bool { return n.gone })
	return w.nics
}

// tick goes to the next point in time at which anything happens, at most 50 µs on.
func (w *network) tick() {
	next := w.Now() + 50*time.Microsecond
	for _, i := range w.ifaces {
		if at := i.Deadline(); at != 0 && at < next {
			next = at
		}
	}
	w.Step(max(next, w.Now()+1000)) // one side may stand still although its time has come
}

// silenceAnswers loses everything that the acceptors' devices send.
func (w *network) silenceAnswers() {
	for _, n := range w.live() {
		if n.Addr().Addr() == addrB {
			n.faults.SetRules(carrier.Rule{Share: 1, Drop: true})
		}
	}
}

// silence has the network lose everything between endpoints and their peers but datagrams of other connections.
func (w *network) silence(eps ...transport.Endpoint) {
	var rules []carrier.Rule
	for _, ep := range eps {
		own, peer := rc.Numbers(ep)
		rules = append(rules, carrier.Rule{QP: &own, Share: 1, Drop: true}, carrier.Rule{QP: &peer, Share: 1, Drop: true})
	}
	for _, n := range w.live() {
		n.faults.SetRules(append(rules[:len(rules):len(rules)], w.rules...)...)
	}
}
