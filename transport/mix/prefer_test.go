package mix_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/sim"
	"github.com/openbraid/braid/transport/transporttest"
)

// TestPreferConformance: the suite, over the first one.
func TestPreferConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) *transporttest.Pair {
		n, idle := sim.New(1, sim.Config{}), sim.New(2, sim.Config{})
		open := func(name string) transport.Iface {
			h := n.Host(name)
			i, err := mix.Prefer(h, idle.Host(name)).Open(h.Env())
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		return &transporttest.Pair{
			Client: open("a"), Server: open("b"), Addr: "b0:0", Nobody: "b0:9", Now: n.Now,
			Advance: func() { n.StepTo(n.Now() + 50*time.Microsecond) }, Slack: 200 * time.Microsecond,
		}
	})
}

// sink notes what it is told.
type sink struct {
	connected int
	errs      []error
}

func (s *sink) Connected()                    { s.connected++ }
func (*sink) Place(uint8, []byte, int) []byte { return nil }
func (*sink) Frame(*transport.Incoming)       {}
func (*sink) Room()                           {}
func (s *sink) OnError(err error) transport.Decision {
	s.errs = append(s.errs, err)
	return transport.Complete
}

// Accepted implements transport.Acceptor.
func (s *sink) Accepted(transport.Endpoint) (transport.Sink, transport.Options) {
	s.connected++
	return &sink{}, transport.Options{}
}

// absent is a transport of a device that this host doesn't have.
type absent struct{ transport.Transport }

func (a absent) Open(e transport.Env) (transport.Iface, error) {
	i, err := a.Transport.Open(e)
	return absentIface{i}, err
}

type absentIface struct{ transport.Iface }

var errAbsent = errors.New("no such device")

func (absentIface) Listen(string, transport.Acceptor) (transport.Listener, error) {
	return nil, errAbsent
}
func (absentIface) Dial(_, _ string, _ transport.Options, _ transport.Sink) (transport.Endpoint, error) {
	return nil, errAbsent
}

// TestPrefer: connections run over the first transport where both sides have it, over the second where one of them doesn't, and that is said once.
func TestPrefer(t *testing.T) {
	for _, c := range []struct {
		name           string
		client, server bool // have the first
		tries, lines   int
		over           string
	}{
		{"both have it", true, true, 1, 0, "first"},
		{"the client doesn't", false, true, 1, 1, "second"},
		{"the server doesn't", true, false, 2, 2, "second"}, // a line of each
		{"nobody does", false, false, 1, 2, "second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var said bytes.Buffer
			first, second := sim.New(1, sim.Config{}), sim.New(2, sim.Config{})
			open := func(name string, has bool) transport.Iface {
				var h transport.Transport = first.Host(name)
				if !has {
					h = absent{h}
				}
				s := second.Host(name)
				env := s.Env()
				env.Log = slog.New(slog.NewTextHandler(&said, nil))
				m := mix.Prefer(h, s)
				i, err := m.Open(env)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { i.Close() })
				return i
			}
			client, server := open("a", c.client), open("b", c.server)
			var came sink
			l, err := server.Listen("b0:0", &came)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			tries := 0
			for s := (&sink{}); s.connected == 0; tries++ {
				s = &sink{}
				ep, err := client.Dial("", l.Addr(), transport.Options{}, s)
				if err != nil {
					t.Fatal(err)
				}
				for range 10000 {
					if s.connected > 0 && came.connected > 0 || len(s.errs) > 0 {
						break
					}
					for _, i := range []transport.Iface{client, server} {
						i.Progress()
						i.Flush()
					}
					first.StepTo(first.Now() + 50*time.Microsecond)
					second.StepTo(second.Now() + 50*time.Microsecond)
				}
				if s.connected == 0 && len(s.errs) == 0 || tries > 3 {
					t.Fatal("neither connected nor refused")
				}
				ep.Close()
			}
			if n := strings.Count(said.String(), "\n"); tries != c.tries || n != c.lines || came.connected != 1 {
				t.Errorf("%d tries, %d lines in the log, want %d and %d; %d connections came\n%s", tries, n, c.tries, c.lines, came.connected, said.String())
			}
		})
	}
}
