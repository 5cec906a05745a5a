//go:build linux

package softrc_test

import (
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/rdma/soft/udp"
	"github.com/openbraid/braid/transport"
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
