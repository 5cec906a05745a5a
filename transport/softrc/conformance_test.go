//go:build linux

package softrc_test

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/udp"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/softrc"
	"github.com/openbraid/braid/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, now func() time.Duration, o softrc.Options, luck uint64) transport.Iface {
	t.Helper()
	rand := luck
	i, err := softrc.New(o).Open(transport.Env{
		Now: now, Rand: func() uint64 { rand = rand*6364136223846793005 + 1442695040888963407; return rand }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func pair(o softrc.Options, addr string) transporttest.Factory {
	return func(t testing.TB) *transporttest.Pair {
		start := time.Now()
		now := func() time.Duration { return time.Since(start) + 1 }
		// An address that nobody listens at, though somebody did.
		c, err := net.ListenPacket("udp", net.JoinHostPort(addr, "0"))
		if err != nil {
			t.Fatal(err)
		}
		nobody := c.LocalAddr().String()
		c.Close()
		return &transporttest.Pair{
			Client: open(t, now, o, 1), Server: open(t, now, o, 2), Addr: net.JoinHostPort(addr, "0"), Nobody: nobody,
			Now: now, Advance: func() { time.Sleep(50 * time.Microsecond) },
			Slack: 500 * time.Millisecond, Patience: 30 * time.Second,
		}
	}
}

func TestConformance(t *testing.T) {
	t.Run("IPv4", func(t *testing.T) { transporttest.Run(t, pair(softrc.Options{}, "127.0.0.1")) })
	t.Run("one datagram at a time", func(t *testing.T) {
		transporttest.Run(t, pair(softrc.Options{Socket: udp.Options{NoSegment: true}}, "127.0.0.1"))
	})
	t.Run("IPv6", func(t *testing.T) { transporttest.Run(t, pair(softrc.Options{}, "::1")) })
}

// TestSources: connections leave from several ports, so that networks of several paths see several flows, and the peer takes each from its
// own port only.
func TestSources(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]map[uint16]bool{} // by where it arrives
	o := softrc.Options{Socket: udp.Options{Sources: 4}, Wrap: func(c carrier.Carrier, _ rc.Place) carrier.Carrier {
		return &watched{Carrier: c, note: func(from netip.AddrPort) {
			mu.Lock()
			defer mu.Unlock()
			at := c.Local().String()
			if seen[at] == nil {
				seen[at] = map[uint16]bool{}
			}
			seen[at][from.Port()] = true
		}}
	}}
	start := time.Now()
	now := func() time.Duration { return time.Since(start) + 1 }
	a, b := open(t, now, o, 1), open(t, now, o, 2)
	defer a.Close()
	defer b.Close()
	var ys []*end
	l, err := b.Listen("127.0.0.1:0", acceptor(func(ep transport.Endpoint) transport.Sink {
		y := &end{ep: ep, reply: &transport.Frame{ID: 1, Class: transport.Control}}
		ep.Admit(1000, true)
		ys = append(ys, y)
		return y
	}))
	if err != nil {
		t.Fatal(err)
	}
	var xs []*end
	for range 16 {
		x := &end{}
		if x.ep, err = a.Dial("", l.Addr(), transport.Options{}, x); err != nil {
			t.Fatal(err)
		}
		xs = append(xs, x)
	}
	begun := false
	for late := time.Now().Add(time.Minute); !begun || slices.ContainsFunc(xs, func(x *end) bool { return x.got == 0 }); {
		if !begun && len(ys) == len(xs) && !slices.ContainsFunc(xs, func(x *end) bool { return !x.up }) {
			begun = true
			for _, x := range xs {
				x.ep.Admit(1000, true)
				x.ep.Post(&transport.Frame{ID: 1, Payload: make([]byte, 100), Done: x})
			}
		}
		for _, i := range []transport.Iface{a, b} {
			i.Progress()
			i.Flush()
		}
		if i := slices.IndexFunc(xs, func(x *end) bool { return x.err != nil }); i >= 0 || time.Now().After(late) {
			t.Fatalf("begun %v, %d came, the connection that failed is %d", begun, len(ys), i)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%v", seen)
	}
	for at, ports := range seen {
		if len(ports) < 3 {
			t.Errorf("at %s packets came from %v", at, ports)
		}
	}
}

// watched is a carrier of which each sender is noted.
type watched struct {
	carrier.Carrier
	note func(from netip.AddrPort)
}

func (w *watched) Recv(batch []carrier.In) int {
	n := w.Carrier.Recv(batch)
	for _, in := range batch[:n] {
		w.note(in.From)
	}
	return n
}

type acceptor func(ep transport.Endpoint) transport.Sink

func (f acceptor) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	return f(ep), transport.Options{}
}
