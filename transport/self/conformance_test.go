package self_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/transporttest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that moves when it is told to.
type clock struct{ now time.Duration }

func (c *clock) env() transport.Env {
	return transport.Env{
		Now:  func() time.Duration { return c.now },
		Rand: func() uint64 { return 4 },
		Log:  slog.New(slog.DiscardHandler),
	}
}

func open(t testing.TB) transport.Iface {
	t.Helper()
	c := &clock{now: 1}
	f, err := self.New(self.Options{}).Open(c.env())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestConformance runs the suite with one interface that is both sides. Nothing may be late: Slack is 0.
func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t testing.TB) *transporttest.Pair {
		c := &clock{now: 1}
		f, err := self.New(self.Options{}).Open(c.env())
		if err != nil {
			t.Fatal(err)
		}
		return &transporttest.Pair{
			Server: f, Client: f, Addr: "self:0", Nobody: "self:9",
			Now: func() time.Duration { return c.now }, Advance: func() { c.now += 10 * time.Microsecond },
			Patience: time.Second,
		}
	})
}
