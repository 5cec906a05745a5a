package soft_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/rdmatest"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
)

// world is a fabric with devices, in which time goes on with tick.
type world struct {
	net    *fabric.Net
	rand   *rand.Rand
	devs   []*soft.Device
	faults []*carrier.Faults
	config func(*soft.Config)
}

func newWorld(seed uint64, cfg fabric.Config) *world {
	return &world{net: fabric.New(cfg), rand: rand.New(rand.NewPCG(seed, 1))}
}

// open adds a device behind faults.
func (w *world) open(t testing.TB, addr string, rules ...carrier.Rule) *soft.Device {
	t.Helper()
	d, err := w.add(addr, rules...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// add is open for those who have no test.
func (w *world) add(addr string, rules ...carrier.Rule) (*soft.Device, error) {
	p, err := w.net.Port(netip.MustParseAddrPort(addr))
	if err != nil {
		return nil, err
	}
	f := carrier.WithFaults(p, w.net.Now, w.rand.Uint64, rules...)
	c := soft.Config{Carrier: f, Now: w.net.Now, Rand: w.rand.Uint64}
	if w.config != nil {
		w.config(&c)
	}
	d, err := soft.Open(c)
	w.devs, w.faults = append(w.devs, d), append(w.faults, f)
	return d, err
}

// tick goes to the next point in time at which anything happens.
func (w *world) tick() {
	next := w.net.Now() + 1000
	first := true
	for _, d := range w.devs {
		if at := d.Deadline(); at != 0 && (first || at < next) {
			next, first = at, false
		}
	}
	w.net.Step(next)
}

func TestFabric(t *testing.T) {
	var w *world
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			w = newWorld(1, fabric.Config{Latency: 2000})
			return [2]rdma.Device{w.open(t, "10.0.0.1:4791"), w.open(t, "10.0.0.2:7000")}
		},
		Tick: func() { w.tick() },
		Cut:  func() { w.faults[0].Cut() },
	})
}

// TestFabricWithFaults: the same suite while every kind of fault happens.
func TestFabricWithFaults(t *testing.T) {
	var w *world
	seed := uint64(0)
	hits := 0
	rules := []carrier.Rule{{Share: 0.03, Drop: true}, {Share: 0.02, Double: true}, {Share: 0.05, Delay: 20000}, {Share: 0.01, Corrupt: true}}
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			if w != nil {
				hits += w.faults[0].Hits() + w.faults[1].Hits()
			}
			seed++
			w = newWorld(seed, fabric.Config{Latency: 2000})
			return [2]rdma.Device{w.open(t, "[fe80::1]:4791", rules...), w.open(t, "[fe80::2]:7000", rules...)}
		},
		Tick:  func() { w.tick() },
		Cut:   func() { w.faults[0].Cut() },
		Lossy: true,
	})
	if hits < 100 {
		t.Errorf("%d faults: too few to prove anything", hits)
	}
}
