//go:build linux

package shm_test

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/transporttest"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv("BRAID_SHM_CHILD"); addr != "" {
		shm.Child(addr)
	}
	goleak.VerifyTestMain(m)
}

func newEnv() transport.Env {
	start := time.Now()
	return transport.Env{
		Now:  func() time.Duration { return time.Since(start) + 1 },
		Rand: rand.Uint64, // names of sockets are the whole host's: other tests run at the same time
		Log:  slog.New(slog.DiscardHandler),
	}
}

func open(t testing.TB, env transport.Env, o shm.Options) transport.Iface {
	t.Helper()
	f, err := shm.New(o).Open(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// scissors cut connections by address, from either end.
type scissors map[[2]string]shm.Fault

func (s scissors) fault(local, remote string) shm.Fault {
	return max(s[[2]string{local, remote}], s[[2]string{remote, local}])
}

func (s scissors) cut(ep transport.Endpoint, how transporttest.Cut) {
	f := shm.Reset
	if how == transporttest.Silence {
		f = shm.Silent
	}
	s[[2]string{ep.Local(), ep.Remote()}] = f
}

func factory(host string, o shm.Options) transporttest.Factory {
	return func(t testing.TB) *transporttest.Pair {
		env := newEnv()
		s := scissors{}
		o.Fault = s.fault
		return &transporttest.Pair{
			Server: open(t, env, o), Client: open(t, env, o),
			Addr: net.JoinHostPort(host, "0"), Nobody: net.JoinHostPort(host, "9"),
			Now: env.Now, Advance: func() { time.Sleep(20 * time.Microsecond) },
			Slack: 200 * time.Millisecond, Patience: 20 * time.Second,
			Cut: s.cut,
			Raw: func(addr string) (io.WriteCloser, error) { return net.Dial("unixpacket", "@braid/"+addr) },
		}
	}
}

func TestConformance(t *testing.T) {
	t.Run("made-up names", func(t *testing.T) { transporttest.Run(t, factory(shm.Host, shm.Options{})) })
	t.Run("read in place", func(t *testing.T) {
		transporttest.Run(t, factory(shm.Host, shm.Options{Slots: 64, Data: 128 << 10, Read: shm.Always}))
	})
	t.Run("tiny rings", func(t *testing.T) {
		transporttest.Run(t, factory(shm.Host, shm.Options{Slots: 8, Data: 128 << 10}))
	})
	if testing.Short() {
		return
	}
	t.Run("addresses", func(t *testing.T) { transporttest.Run(t, factory("127.0.0.1", shm.Options{})) })
}

// TestNames: a made-up name says which host it is of.
func TestNames(t *testing.T) {
	f := open(t, newEnv(), shm.Options{})
	l, err := f.Listen("shm:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := shm.Prefix(); len(p) < 10 || !strings.HasPrefix(l.Addr(), p) {
		t.Errorf("%q begins with %q", l.Addr(), p)
	}
}
