package topo

import (
	"net/netip"
	"slices"
	"testing"
)

// TestKnown: what an address of a worker says: each rail that leads anywhere, the loopback only if nothing else does, or it was asked for.
func TestKnown(t *testing.T) {
	lo := Rail{Name: "lo", Addr: netip.MustParseAddr("127.0.0.1"), Bits: 8, Traits: Ready | Loopback}
	eth := Rail{Name: "eth0", Addr: netip.MustParseAddr("10.0.0.5"), Bits: 24, Traits: Ready}
	eth6 := Rail{Name: "eth0", Addr: netip.MustParseAddr("fd00::5"), Bits: 64, Traits: Ready}
	second := Rail{Name: "eth1", Addr: netip.MustParseAddr("10.1.0.5"), Bits: 24, Traits: Ready}
	all := []Rail{lo, eth, eth6, second}
	for _, c := range []struct {
		why   string
		rails []Rail
		bound []string
		most  int
		want  []string
	}{
		{"both families", all, []string{"[::]:7"}, 9, []string{"10.0.0.5:7", "10.1.0.5:7", "[fd00::5]:7"}},
		{"one family", all, []string{"0.0.0.0:7"}, 9, []string{"10.0.0.5:7", "10.1.0.5:7"}},
		{"not all have room", all, []string{"[::]:7"}, 2, []string{"10.0.0.5:7", "10.1.0.5:7"}},
		{"nothing but this host", []Rail{lo}, []string{"[::]:7"}, 9, []string{"127.0.0.1:7"}},
		{"bound to loopback", all, []string{"127.0.0.1:7"}, 9, []string{"127.0.0.1:7"}},
		{"bound to one", all, []string{"10.1.0.5:7", "127.0.0.1:8"}, 9, []string{"10.1.0.5:7", "127.0.0.1:8"}},
		{"simulated", Fixed("n1"), []string{"n1:7"}, 9, []string{"n1:7"}},
	} {
		if got := Known(View{Rails: c.rails}, c.bound, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}
