//go:build linux

package soft_test

import (
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/rdmatest"
	"github.com/openbraid/braid/rdma/soft"
	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/udp"
	"golang.org/x/sys/unix"
)

func luck() uint64 {
	var b [8]byte
	_, _ = crand.Read(b[:])
	return binary.NativeEndian.Uint64(b[:])
}

// clock is the time since the tests began.
var clock = func() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}()

// onSocket opens a device on a socket, behind faults if there are rules.
func onSocket(t testing.TB, addr string, o udp.Options, rules ...carrier.Rule) (*soft.Device, *carrier.Faults) {
	t.Helper()
	c, err := udp.Open(netip.MustParseAddrPort(addr), o)
	if err != nil {
		t.Fatal(err)
	}
	var f *carrier.Faults
	if rules != nil {
		f = carrier.WithFaults(c, clock, luck, rules...)
		c = f
	}
	d, err := soft.Open(soft.Config{Carrier: c, Now: clock, Rand: luck})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, f
}

func TestSockets(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b string
		o    udp.Options
	}{
		{"IPv4", "127.0.0.1:0", "127.0.0.2:0", udp.Options{}},
		{"IPv4 one by one", "127.0.0.1:0", "127.0.0.1:0", udp.Options{NoSegment: true}},
		{"IPv6", "[::1]:0", "[::1]:0", udp.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var faults *carrier.Faults
			rdmatest.Run(t, rdmatest.Kit{
				Open: func(t testing.TB) [2]rdma.Device {
					x, f := onSocket(t, c.a, c.o, []carrier.Rule{}...)
					y, _ := onSocket(t, c.b, c.o)
					faults = f
					return [2]rdma.Device{x, y}
				},
				Cut: func() { faults.Cut() },
			})
		})
	}
}

func BenchmarkSockets(b *testing.B) {
	for _, c := range []struct {
		name, addr string
		o          udp.Options
	}{
		{"IPv6", "[::1]:0", udp.Options{}}, {"IPv4", "127.0.0.1:0", udp.Options{}}, {"IPv4-single", "127.0.0.1:0", udp.Options{NoSegment: true}},
	} {
		for _, s := range []struct{ n, depth int }{{8, 1}, {1 << 20, 4}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, s.n), func(b *testing.B) {
				x, _ := onSocket(b, c.addr, c.o)
				y, _ := onSocket(b, c.addr, c.o)
				connect(b, x, y, 1<<20).write(b, s.n, s.depth)
			})
		}
	}
}

// TestSocketsWithFaults: the suite over sockets that lose, double, delay and spoil, with a small buffer.
func TestSocketsWithFaults(t *testing.T) {
	rules := []carrier.Rule{{Share: 0.002, Drop: true}, {Share: 0.01, Double: true}, {Share: 0.01, Delay: time.Millisecond}, {Share: 0.002, Corrupt: true}}
	hits := 0
	rdmatest.Run(t, rdmatest.Kit{
		Open: func(t testing.TB) [2]rdma.Device {
			x, f := onSocket(t, "127.0.0.1:0", udp.Options{BufferBytes: 64 << 10}, rules...)
			y, g := onSocket(t, "127.0.0.1:0", udp.Options{BufferBytes: 64 << 10}, rules...)
			t.Cleanup(func() { hits += f.Hits() + g.Hits() })
			return [2]rdma.Device{x, y}
		},
		Lossy:   true,
		Timeout: 10,
	})
	if hits < 20 {
		t.Errorf("%d faults: too few to prove anything", hits)
	}
}

// TestSleep: armed and asleep on the descriptor, a device wakes when something has come.
func TestSleep(t *testing.T) {
	x, _ := onSocket(t, "127.0.0.1:0", udp.Options{})
	y, _ := onSocket(t, "127.0.0.1:0", udp.Options{})
	l := connect(t, x, y, 4096)
	for i := range 20 {
		if _, st := l.qp[1].PostRecv([]rdma.RecvWR{{ID: uint64(i)}}); st != rdma.Posted {
			t.Fatal(st)
		}
		for y.Progress() > 0 { // what is left of the round before
		}
		if !l.cq[1].Arm(false) {
			t.Fatal("armed with a completion there")
		}
		if _, st := l.qp[0].PostSend([]rdma.SendWR{{Op: rdma.OpSend}}); st != rdma.Posted {
			t.Fatal(st)
		}
		for l.cq[1].Poll(l.wc[:]) == 0 {
			fds := []unix.PollFd{{Fd: int32(y.EventFD()), Events: unix.POLLIN}}
			if n, err := unix.Poll(fds, 120000); n != 1 || err != nil && err != unix.EINTR {
				t.Fatalf("round %d: nothing in two minutes: %v; %+v", i, err, y.Stats())
			}
			y.Progress()
		}
		x.Progress()
	}
}

// TestOpen: what can't be an address of a device.
func TestOpen(t *testing.T) {
	x, _ := onSocket(t, "127.0.0.1:0", udp.Options{})
	for addr, want := range map[string]string{
		"0.0.0.0:0": "one address", "[::]:0": "one address", "192.0.2.1:0": "no interface", x.Addr().String(): "in use",
	} {
		if _, err := udp.Open(netip.MustParseAddrPort(addr), udp.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
	}
}

// BenchmarkPlain is what sockets alone take for the datagrams of BenchmarkSockets: batches, and nobody who looks into them.
func BenchmarkPlain(b *testing.B) {
	for _, o := range []udp.Options{{}, {NoSegment: true}} {
		b.Run(fmt.Sprintf("single=%v", o.NoSegment), func(b *testing.B) {
			var c [2]carrier.Carrier
			for i := range c {
				var err error
				if c[i], err = udp.Open(netip.MustParseAddrPort("127.0.0.1:0"), o); err != nil {
					b.Fatal(err)
				}
				defer func() { _ = c[i].Close() }()
			}
			const n = 4096 + 16
			route := carrier.Route{To: c[1].Local(), HopLimit: 64}
			buf, outs, ins := make([]byte, 32*n), make([]carrier.Out, 32), make([]carrier.In, 64)
			for i := range outs {
				outs[i] = carrier.Out{Route: &route, Data: buf[i*n:][:n:n]}
			}
			b.SetBytes(32 * 4096)
			for b.Loop() {
				c[0].Send(outs)
				for got := 0; got < len(outs); {
					k := c[1].Recv(ins)
					if k == 0 {
						break // lost
					}
					got += k
				}
			}
		})
	}
}
