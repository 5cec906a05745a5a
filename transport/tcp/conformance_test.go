package tcp_test

import (
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
	"github.com/openbraid/braid/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newEnv() transport.Env {
	start := time.Now()
	return transport.Env{
		Now:  func() time.Duration { return time.Since(start) + 1 },
		Rand: func() uint64 { return 4 },
		Log:  slog.New(slog.DiscardHandler),
	}
}

func open(t testing.TB, env transport.Env, o tcp.Options) transport.Iface {
	t.Helper()
	f, err := tcp.New(o).Open(env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// scissors cut connections below the transport: by address, since that is all that both sides know.
type scissors struct{ all []*strand }

type strand struct {
	transport.Stream
	local, remote string
	silent        bool
}

func (c *scissors) Wrap(s transport.Stream, local, remote string) transport.Stream {
	st := &strand{Stream: s, local: local, remote: remote}
	c.all = append(c.all, st)
	return st
}

func (c *scissors) cut(ep transport.Endpoint, how transporttest.Cut) {
	for _, s := range c.all {
		mine := s.local == ep.Local() && s.remote == ep.Remote()
		if mine && how == transporttest.Reset {
			s.Reset()
		}
		if how == transporttest.Silence && (mine || s.local == ep.Remote() && s.remote == ep.Local()) {
			s.silent = true
		}
	}
}

func (s *strand) Read(p []byte) (int, error) {
	if s.silent {
		return 0, transport.ErrAgain
	}
	return s.Stream.Read(p)
}

func (s *strand) Writev(p [][]byte) (int, error) {
	if s.silent {
		return 0, transport.ErrAgain
	}
	return s.Stream.Writev(p)
}

func factory(host string, o tcp.Options) transporttest.Factory {
	return func(t testing.TB) *transporttest.Pair {
		env := newEnv()
		sc := &scissors{}
		o.Wrapper = sc
		return &transporttest.Pair{
			Server: open(t, env, o), Client: open(t, env, o),
			Addr: net.JoinHostPort(host, "0"), Local: host, Nobody: nobody(t, host),
			Now: env.Now, Advance: func() { time.Sleep(20 * time.Microsecond) },
			Slack: 200 * time.Millisecond, Patience: 20 * time.Second,
			Cut: sc.cut,
			Raw: func(addr string) (io.WriteCloser, error) { return net.Dial("tcp", addr) },
		}
	}
}

// nobody is an address that was just free.
func nobody(t testing.TB, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Skipf("%s: %v", host, err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestConformance(t *testing.T) {
	t.Run("IPv4", func(t *testing.T) { transporttest.Run(t, factory("127.0.0.1", tcp.Options{})) })
	t.Run("IPv6", func(t *testing.T) { transporttest.Run(t, factory("::1", tcp.Options{})) })
	t.Run("tiny buffers", func(t *testing.T) {
		transporttest.Run(t, factory("127.0.0.1", tcp.Options{SendBuffer: 4096, ReceiveBuffer: 4096}))
	})
}
