package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/sim"
	"github.com/openbraid/braid/transport/transporttest"
)

// factory makes pairs over a network of the seed, and checks at the end that nothing is left of it.
func factory(seed uint64, c sim.Config) transporttest.Factory {
	return func(t testing.TB) *transporttest.Pair {
		n := sim.New(seed, c)
		a, b := n.Host("a"), n.Host("b")
		open := func(h *sim.Host) transport.Iface {
			i, err := h.Open(h.Env())
			if err != nil {
				t.Fatal(err)
			}
			return i
		}
		t.Cleanup(func() {
			if v := n.Violations(); len(v) > 0 {
				t.Errorf("violations: %q", v)
			}
			if c := n.Open(); c != (sim.Counters{}) {
				t.Errorf("left open: %+v", c)
			}
		})
		return &transporttest.Pair{
			Client: open(a), Server: open(b), Addr: "b0:0", Nobody: "b0:9",
			Now:     n.Now,
			Advance: func() { n.StepTo(n.Now() + 50*time.Microsecond) },
			Slack:   200 * time.Microsecond,
			Cut: func(ep transport.Endpoint, how transporttest.Cut) {
				kind := sim.Reset
				if how == transporttest.Silence {
					kind = sim.Silence
				}
				n.Break(ep, kind, sim.Both)
			},
		}
	}
}

func TestConformance(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			transporttest.Run(t, factory(seed, sim.Config{Stingy: int(seed%3) * 5}))
		})
	}
	t.Run("calm", func(t *testing.T) { transporttest.Run(t, factory(1, sim.Config{Calm: true})) })
	t.Run("slow link", func(t *testing.T) {
		c := sim.Config{Link: sim.Link{Latency: 20 * time.Microsecond, BytesPerSecond: 1 << 30}}
		transporttest.Run(t, factory(2, c))
	})
}
