package sim

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/rdma/soft/packet"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/sim"
)

// rails of rc lanes are IP addresses: the devices stand on a network of their own, whose time is that of the world.
type rcNet struct {
	w      *world
	fab    *fabric.Net
	always []carrier.Rule
	cuts   []*rcRail
	nics   []*rcNIC
	port   uint16
	sum    uint64
	read   int // from which size on payloads are read; 0: never
}

// rcRail is what is wrong with an address at the moment.
type rcRail struct {
	addr  netip.Addr
	rules []carrier.Rule
}

// rcNIC is a device with the faults in front of it.
type rcNIC struct {
	*soft.Device
	net    *rcNet
	addr   netip.Addr
	faults *carrier.Faults
}

// Close notes that the device has ended.
func (n *rcNIC) Close() error {
	n.net.nics = slices.DeleteFunc(n.net.nics, func(o *rcNIC) bool { return o == n })
	return n.Device.Close()
}

func newRCNet(w *world) *rcNet {
	n := &rcNet{w: w, port: 50000}
	h := fnv.New64a()
	n.fab = fabric.New(fabric.Config{Latency: time.Duration(1+w.n(60)) * time.Microsecond})
	n.fab.Watch(func(at time.Duration, f packet.Flow, b []byte) {
		fmt.Fprint(h, at, f.Src, f.Dst)
		_, _ = h.Write(b)
		n.sum = h.Sum64()
	})
	n.read = w.n(2) * 40_000
	if w.n(2) == 0 {
		n.always = []carrier.Rule{{Share: 0.01, Drop: true}, {Share: 0.01, Double: true}, {Share: 0.02, Delay: 200 * time.Microsecond}, {Share: 0.002, Corrupt: true}}
	}
	return n
}

// rcRails are the addresses of a side's rc lanes.
func rcRails(name string, n int) (rs []string) {
	host := 1
	if name == "b" {
		host = 2
	}
	for i := range n {
		rs = append(rs, fmt.Sprintf("10.0.%d.%d", i, host))
	}
	return rs
}

// isRC says whether a rail, or an address on it, is one of a device.
func isRC(rail string) bool { return len(rail) > 3 && rail[:3] == "10." }

// catchUp lets the devices' network reach the world's time.
func (n *rcNet) catchUp() {
	for n.fab.Now() < n.w.net.Now() {
		n.fab.Step(n.w.net.Now())
	}
}

// open is rc.Options.Open.
func (n *rcNet) open(at rc.Place) (rdma.Device, error) {
	local := at.Local
	if local.Port() == 0 {
		n.port++
		local = netip.AddrPortFrom(local.Addr(), n.port)
	}
	p, err := n.fab.Port(local)
	if err != nil {
		return nil, err
	}
	f := carrier.WithFaults(p, n.w.net.Now, n.w.net.Rand, n.rules(local.Addr())...)
	d, err := soft.Open(soft.Config{Carrier: f, Now: n.w.net.Now, Rand: n.w.net.Rand})
	if err != nil {
		return nil, err
	}
	nic := &rcNIC{Device: d, net: n, addr: local.Addr(), faults: f}
	n.nics = append(n.nics, nic)
	return nic, nil
}

func (n *rcNet) rules(a netip.Addr) []carrier.Rule {
	for _, c := range n.cuts {
		if c.addr == a {
			return append(slices.Clone(c.rules), n.always...)
		}
	}
	return n.always
}

func (n *rcNet) set(addr string, rules []carrier.Rule) {
	a := netip.MustParseAddr(addr)
	n.cuts = slices.DeleteFunc(n.cuts, func(c *rcRail) bool { return c.addr == a })
	if rules != nil {
		n.cuts = append(n.cuts, &rcRail{a, rules})
	}
	for _, nic := range n.nics {
		if nic.addr == a {
			nic.faults.SetRules(n.rules(a)...)
		}
	}
}

// cut breaks a rail: its port goes down, or nothing passes any more in one direction or both.
func (n *rcNet) cut(addr string, k sim.Kind, d sim.Dir) {
	if k == sim.Reset {
		n.fab.SetLink(netip.MustParseAddr(addr), false)
		return
	}
	var rules []carrier.Rule
	if d != sim.In {
		rules = append(rules, carrier.Rule{Share: 1, Drop: true})
	}
	if d != sim.Out {
		rules = append(rules, carrier.Rule{Share: 1, Corrupt: true}) // a wrong sum: it is dropped
	}
	n.set(addr, rules)
}

func (n *rcNet) heal(addr string) {
	n.fab.SetLink(netip.MustParseAddr(addr), true)
	n.set(addr, nil)
}

// transports of a side.
func (s *side) transports() []transport.Transport {
	n := s.w.rc
	if n == nil {
		return []transport.Transport{s.host}
	}
	return []transport.Transport{mix.New(s.host, mix.Part{Transport: rc.New(rc.Options{Open: n.open, TrustNetwork: true, AllowSecret: true, Polled: true, ReadFrom: n.read}), Takes: isRC})}
}

// TestRC: every lane is one of a device.
func TestRC(t *testing.T) {
	eachSeed(t, 60, 10, func(seed uint64) *world {
		s := shapeOf(seed)
		s.devices = s.lanes
		w := newWorld(seed, s)
		w.run()
		return w
	})
}

// TestRCMixed: an endpoint has lanes of both kinds.
func TestRCMixed(t *testing.T) {
	eachSeed(t, 60, 10, func(seed uint64) *world {
		s := shapeOf(seed)
		s.lanes = max(s.lanes, 2)
		s.devices = 1 + int(seed)%(s.lanes-1)
		w := newWorld(seed, s)
		w.run()
		return w
	})
}
