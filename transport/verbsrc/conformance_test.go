//go:build linux && verbs

package verbsrc_test

import (
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/rdma/verbs"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/transporttest"
	"github.com/openbraid/braid/transport/verbsrc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// address is that of the adapter under test. These tests have a build tag: where none is they are not there, so that none is skipped in silence.
func address(t testing.TB) string {
	t.Helper()
	a := os.Getenv("BRAID_VERBS_LOCAL")
	if a == "" {
		t.Fatal("BRAID_VERBS_LOCAL must be the address of a RoCE device, such as rxe0's; make verbs runs these tests in a virtual machine that has one")
	}
	return a
}

func open(t testing.TB, now func() time.Duration, o verbsrc.Options, luck uint64) transport.Iface {
	t.Helper()
	o.RC.TrustNetwork, o.RC.Timeout = true, 16 // the device is the processor's work, and slow where that is emulated
	rand := luck
	i, err := verbsrc.New(o).Open(transport.Env{
		Now: now, Rand: func() uint64 { rand = rand*6364136223846793005 + 1442695040888963407; return rand }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// TestConformance: the suite of transports over an adapter, which is a loop, and nothing of libibverbs is left after each case.
func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		rc   rc.Options
	}{{"sent", rc.Options{}}, {"read", rc.Options{ReadFrom: 16 << 10}}} {
		t.Run(c.name, func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) *transporttest.Pair {
				before := verbs.Objects()
				t.Cleanup(func() {
					if n := verbs.Objects() - before; n != 0 {
						t.Errorf("%d objects of libibverbs are left", n)
					}
				})
				start := time.Now()
				now := func() time.Duration { return time.Since(start) + 1 }
				free, err := net.ListenPacket("udp", net.JoinHostPort(address(t), "0"))
				if err != nil {
					t.Fatal(err)
				}
				nobody := free.LocalAddr().String()
				free.Close()
				o := verbsrc.Options{RC: c.rc}
				return &transporttest.Pair{
					Client: open(t, now, o, 1), Server: open(t, now, o, 2), Addr: net.JoinHostPort(address(t), "0"), Nobody: nobody,
					Now: now, Advance: func() { time.Sleep(50 * time.Microsecond) },
					Slack: 2 * time.Second, Patience: 2 * time.Minute,
				}
			})
		})
	}
}
