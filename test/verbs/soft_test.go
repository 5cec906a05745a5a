//go:build linux && verbs

package verbs

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/rdmatest"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/host"
	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/transporttest"
	"github.com/openbraid/braid/transport/verbsrc"
)

// ends are the addresses of a wire: the adapter's, and those of devices in software in the network namespace "soft", where port 4791 is free. The module of the
// kernel's device takes that port on every address of its own namespace.
type ends struct {
	family, adapter, software string
}

var wires = []ends{{"IPv4", "10.77.0.1", "10.77.0.%d"}, {"IPv6", "fd77::1", "fd77::%d"}}

// opened counts devices in software: each gets another address, since some tests have several at a time and all have the same port.
var opened int

// next is an address for one more.
func (e ends) next() string {
	opened++
	return fmt.Sprintf(e.software, 10+opened%40)
}

// resolves has a socket ask in its own namespace how others are reached.
type resolves struct {
	carrier.Carrier
	t testing.TB
}

// Resolve implements carrier.Carrier.
func (r resolves) Resolve(to netip.AddrPort, label uint32) (way carrier.Route, err error) {
	inside(r.t, func() { way, err = r.Carrier.Resolve(to, label) })
	return way, err
}

// inside runs something in the namespace of devices in software, on a thread that ends with it.
func inside(t testing.TB, do func()) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else gets this thread
		there, err := os.Open("/run/netns/soft")
		if err == nil {
			defer there.Close()
			if err = unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err == nil {
				do()
			}
		}
		ended <- err
	}()
	if err := <-ended; err != nil {
		t.Fatalf("%v: make verbs makes this network namespace, with the other ends of the rails in it", err)
	}
}

// inSoftware opens a device in software at the port of adapters, with faults in front of its socket.
func (e ends) inSoftware(t testing.TB, rules ...carrier.Rule) (d *soft.Device, f *carrier.Faults) {
	t.Helper()
	start := time.Now()
	now := func() time.Duration { return time.Since(start) + 1 }
	luck := rand.New(rand.NewPCG(1, uint64(len(rules))))
	var err error
	inside(t, func() {
		d, err = host.Open(host.Config{Local: netip.AddrPortFrom(netip.MustParseAddr(e.next()), rdma.RoCEPort), Now: now, Wrap: func(c carrier.Carrier) carrier.Carrier {
			f = carrier.WithFaults(resolves{c, t}, now, luck.Uint64, rules...)
			return f
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, f
}

// oneFamily is a device that shows the rows of its table that have one address only.
type oneFamily struct {
	rdma.Device
	addr netip.Addr
}

// GIDs implements rdma.Device.
func (d oneFamily) GIDs() (list []rdma.GIDEntry) {
	for _, g := range d.Device.GIDs() {
		if g.GID.IP() == d.addr {
			list = append(list, g)
		}
	}
	return list
}

// opens opens the two, the adapter first or second.
func (e ends) opens(t testing.TB, second bool, rules ...carrier.Rule) (pair [2]rdma.Device, s *soft.Device, f *carrier.Faults) {
	t.Helper()
	left(t)
	addr := netip.MustParseAddr(e.adapter)
	d, err := verbs.Open(verbs.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	s, f = e.inSoftware(t, rules...)
	pair = [2]rdma.Device{oneFamily{d, addr}, s}
	if second {
		pair[0], pair[1] = pair[1], pair[0]
	}
	return pair, s, f
}

// adapterSays is what the kernel's device calls things.
var adapterSays = map[rdma.WCStatus][]rdma.WCStatus{
	rdma.StatusRemAccess: {rdma.StatusRemInvReq},
	rdma.StatusLocProt:   {rdma.StatusLocQPOp},
	rdma.StatusRemInvReq: {rdma.StatusRemOp},
	rdma.StatusLocLen:    {rdma.StatusLocQPOp},
}

// TestDevices: the suite of devices between an adapter and a device in software, both ways round, over IPv4 and IPv6, on a network that loses nothing and on one on which packets get lost, come twice,
// late and spoiled, so that both repeat, refuse and are refused.
func TestDevices(t *testing.T) {
	for i, e := range wires {
		for _, second := range []bool{false, true} {
			lossy := second == (i == 0) // each family, role and network with each of the others
			name := fmt.Sprintf("%s/adapter second=%v/lossy=%v", e.family, second, lossy)
			t.Run(name, func(t *testing.T) { e.devices(t, second, lossy) })
		}
	}
}

func (e ends) devices(t *testing.T, second, lossy bool) {
	var rules []carrier.Rule
	if lossy {
		rules = []carrier.Rule{{Share: 0.05, Drop: true}, {Share: 0.03, Double: true}, {Share: 0.02, Delay: 5 * time.Millisecond}, {Share: 0.02, Corrupt: true}}
	}
	var sum soft.Stats
	var faults *carrier.Faults
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			pair, s, f := e.opens(t, second, rules...)
			faults = f
			t.Cleanup(func() { add(&sum, s.Stats()) })
			return pair
		},
		Cut:     func() { faults.Cut() },
		Timeout: 16, Short: 16, Slow: true, Truncates: true, WideWindows: true, Lossy: lossy, Also: adapterSays,
		// These are about what one device does, and not about two.
		Without: []string{"Attributes", "States", "LocalAccess", "Datagrams", "WellKnown", "Self", "Overrun", "Busy", "Blocks"},
	})
	t.Logf("the device in software: %+v", sum)
	// The first one asks, the second one answers.
	repeated, waited := sum.Duplicates, sum.RNRsSent
	if second {
		repeated, waited = min(sum.NaksTaken, sum.GoBacks), sum.RNRsTaken
	}
	if lossy && repeated == 0 {
		t.Errorf("packets got lost, and nobody repeated any: %+v", sum)
	}
	if waited == 0 {
		t.Errorf("no receive was posted, and nobody was told so: %+v", sum)
	}
}

// add sums what a test needs of a device's counters.
func add(sum *soft.Stats, s soft.Stats) {
	sum.RxPackets += s.RxPackets
	sum.TxPackets += s.TxPackets
	sum.BadICRC += s.BadICRC
	sum.Duplicates += s.Duplicates
	sum.OutOfOrder += s.OutOfOrder
	sum.NaksSent += s.NaksSent
	sum.NaksTaken += s.NaksTaken
	sum.RNRsSent += s.RNRsSent
	sum.RNRsTaken += s.RNRsTaken
	sum.Timeouts += s.Timeouts
	sum.GoBacks += s.GoBacks
}

// there is an interface whose devices are in the namespace of devices in software.
type there struct {
	transport.Iface
	t testing.TB
	e ends
}

// Listen implements transport.Iface. Any port is that of adapters, at another address each time.
func (i there) Listen(addr string, a transport.Acceptor) (l transport.Listener, err error) {
	if _, port, _ := net.SplitHostPort(addr); port == "0" {
		addr = net.JoinHostPort(i.e.next(), "4791")
	}
	inside(i.t, func() { l, err = i.Iface.Listen(addr, a) })
	return l, err
}

// Dial implements transport.Iface.
func (i there) Dial(local, remote string, o transport.Options, s transport.Sink) (ep transport.Endpoint, err error) {
	inside(i.t, func() { ep, err = i.Iface.Dial(local, remote, o, s) })
	return ep, err
}

// TestTransport: the suite of transports with an adapter at one end and a device in software at the other, both ways round, payloads sent and read.
func TestTransport(t *testing.T) {
	for i, e := range wires {
		for k, software := range []string{"dials", "listens"} {
			from := []int{0, 16 << 10}[(i+k)%2] // each family and role with each of the others
			t.Run(fmt.Sprintf("%s/software %s/read from %d", e.family, software, from), func(t *testing.T) {
				transporttest.Run(t, func(t testing.TB) *transporttest.Pair { return e.pair(t, software == "listens", from) })
			})
		}
	}
}

func (e ends) pair(t testing.TB, listens bool, readFrom int) *transporttest.Pair {
	left(t)
	start := time.Now()
	now := func() time.Duration { return time.Since(start) + 1 }
	o := rc.Options{TrustNetwork: true, Timeout: 16, ReadFrom: readFrom}
	open := func(tr transport.Transport, luck uint64) transport.Iface {
		i, err := tr.Open(transport.Env{Now: now, Rand: rand.New(rand.NewPCG(luck, 1)).Uint64, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	p := &transporttest.Pair{Now: now, Advance: func() { time.Sleep(50 * time.Microsecond) }, Slack: 2 * time.Second, Patience: patience}
	adapter := open(verbsrc.New(verbsrc.Options{RC: o}), 1)
	software := there{open(softrc.New(softrc.Options{RC: o, Port: rdma.RoCEPort, Wrap: func(c carrier.Carrier, _ rc.Place) carrier.Carrier { return resolves{c, t} }}), 2), t, e}
	p.Client, p.Server, p.Addr, p.Nobody = software, adapter, net.JoinHostPort(e.adapter, "0"), net.JoinHostPort(e.adapter, "9")
	if p.Local = e.next(); listens {
		p.Client, p.Server, p.Addr, p.Nobody, p.Local = adapter, software, net.JoinHostPort(p.Local, "0"), net.JoinHostPort(p.Local, "9"), e.adapter // which has addresses of both families
	}
	return p
}
