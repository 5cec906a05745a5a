package rc_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/fabric"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
	"github.com/openbraid/braid/transport/transporttest"
)

// pair makes pairs over a network in memory.
func pair(seed uint64, c fabric.Config, o rc.Options, rules ...carrier.Rule) transporttest.Factory {
	return func(t testing.TB) *transporttest.Pair {
		w := newNetwork(t, seed, c)
		w.rules = rules
		o.TrustNetwork = true
		client, server := w.iface("10.0.0.2", o), w.iface("10.0.0.1", o)
		return &transporttest.Pair{
			Client: client, Server: server, Addr: "10.0.0.1:0", Nobody: "10.0.0.1:9",
			Now: w.Now, Advance: func() {
				for _, i := range w.ifaces {
					if v := rc.Check(i); v != "" {
						t.Fatal(v)
					}
				}
				w.neverUnready()
				w.tick()
			},
			Slack: 300 * time.Microsecond,
			Cut: func(ep transport.Endpoint, how transporttest.Cut) {
				if how == transporttest.Silence {
					w.silence(ep)
					return
				}
				a := netip.MustParseAddrPort(ep.Local()).Addr()
				w.SetLink(a, false)
				w.SetLink(a, true)
			},
		}
	}
}

func TestConformance(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			transporttest.Run(t, pair(seed, fabric.Config{Latency: time.Duration(seeds-seed-1) * 5 * time.Microsecond}, rc.Options{}))
		})
	}
	t.Run("payloads are read", func(t *testing.T) {
		transporttest.Run(t, pair(9, fabric.Config{Latency: 5 * time.Microsecond}, rc.Options{ReadFrom: 10 << 10}))
	})
}
