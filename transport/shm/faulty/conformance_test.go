//go:build linux

package faulty_test

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/shm/faulty"
	"github.com/openbraid/braid/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a clock, an injector in front of the client's connections, and the two interfaces.
type world struct {
	env            transport.Env
	inj            *fault.Injector
	client, server transport.Iface
	lends          transport.Lender // the server's
}

func newWorld(t testing.TB, now func() time.Duration) *world {
	t.Helper()
	o := shm.Options{}
	w := &world{env: transport.Env{
		Now:  now,
		Rand: rand.Uint64, // names of sockets are the whole host's: other tests run at the same time
		Log:  slog.New(slog.DiscardHandler),
	}}
	w.inj = fault.New(w.env.Now)
	server := shm.New(o)
	w.lends = server.(transport.Lender)
	for _, x := range []struct {
		to *transport.Iface
		of transport.Transport
	}{{&w.client, faulty.New(o, w.inj)}, {&w.server, server}} {
		f, err := x.of.Open(w.env)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		*x.to = f
	}
	return w
}

// TestConformance: what stands in front of the connections is a transport, too, and what rules do is what the suite means by a cut.
func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) *transporttest.Pair {
		start := time.Now()
		w := newWorld(t, func() time.Duration { return time.Since(start) + 1 })
		return &transporttest.Pair{
			Server: w.server, Client: w.client, Addr: net.JoinHostPort(shm.Host, "0"), Nobody: net.JoinHostPort(shm.Host, "9"),
			Now: w.env.Now, Advance: func() { time.Sleep(20 * time.Microsecond) },
			Slack: 200 * time.Millisecond, Patience: 20 * time.Second,
			Cut: func(_ transport.Endpoint, how transporttest.Cut) {
				kind := fault.Reset
				if how == transporttest.Silence {
					kind = fault.Silence
				}
				w.inj.Apply(fault.Rule{Kind: kind, For: 1}) // what stands stays cut, what comes is not
			},
			Raw: func(addr string) (io.WriteCloser, error) { return net.Dial("unixpacket", "@braid/"+addr) },
		}
	})
}
