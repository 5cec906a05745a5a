package topo

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
)

func TestMoves(t *testing.T) {
	rail := func(name, prefix string, traits Trait) Rail {
		p := netip.MustParsePrefix(prefix)
		return Rail{Name: name, Index: 1, Addr: p.Addr(), Bits: p.Bits(), Traits: traits}
	}
	eth0, guest := rail("eth0", "10.0.0.1/24", Ready), rail("veth7", "172.17.0.1/16", Ready|HostOnly)
	link := rail("veth7", "fe80::7/64", Ready)
	was := View{Rails: []Rail{eth0}}
	for _, c := range []struct {
		name string
		next []Rail
		want bool
	}{
		{"the same again", []Rail{eth0}, true},
		{"a guest's bridge", []Rail{eth0, guest}, false},
		{"a link-local address", []Rail{eth0, link}, false},
		{"another rail", []Rail{eth0, rail("eth1", "10.1.0.1/24", Ready)}, true},
		{"no link", []Rail{rail("eth0", "10.0.0.1/24", Up)}, true},
		{"nothing", nil, true},
	} {
		if got := was.Moves(View{Rails: c.next}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestGone: what is bound to a rail is told when that goes; what never was in the table, or was no good before, is not.
func TestGone(t *testing.T) {
	rail := func(traits Trait) Rail {
		return Rail{Name: "eth0", Index: 2, Addr: netip.MustParseAddr("fe80::1%eth0"), Bits: 64, Traits: traits}
	}
	up, down, empty := View{Rails: []Rail{rail(Ready)}}, View{Rails: []Rail{rail(0)}}, View{}
	for _, c := range []struct {
		was, next View
		host      string
		want      string
	}{
		{up, up, "fe80::1%2", ""},
		{up, down, "fe80::1%2", "eth0 is down"},
		{up, View{Rails: []Rail{rail(Up)}}, "fe80::1%eth0", "eth0 has no link"},
		{up, empty, "fe80::1%2", "eth0 does not have the address any more"},
		{up, empty, "fe80::1%3", ""},
		{up, empty, "127.0.0.2", ""},
		{down, empty, "fe80::1%2", ""},
		{View{Rails: Fixed("a0", "a1")}, View{Rails: Fixed("a1")}, "a0", "the rail is gone"},
		{View{Rails: Fixed("a0", "a1")}, View{Rails: Fixed("a1")}, "a1", ""},
	} {
		if got := c.was.Gone(c.next, c.host); got != c.want {
			t.Errorf("%s: %q, want %q", c.host, got, c.want)
		}
	}
}

// TestLoopbackLeadsHome: a loopback address is no way to another host, whoever asks for it.
func TestLoopbackLeadsHome(t *testing.T) {
	lo := Rail{Name: "lo", Index: 1, Addr: netip.MustParseAddr("127.0.0.1"), Bits: 8, Traits: Ready | Loopback}
	eth0 := Rail{Name: "eth0", Index: 2, Addr: netip.MustParseAddr("10.0.0.1"), Bits: 24, Traits: Ready}
	for _, entries := range [][]string{nil, {"lo"}, {"127.0.0.1"}, {"127.0.0.2"}, {"!eth0"}, {"lo", "eth0"}} {
		chosen, err := Select(entries)
		if err != nil {
			t.Fatal(err)
		}
		v := View{Rails: []Rail{lo, eth0}, Chosen: chosen}
		for i, c := range v.choices() {
			if w := v.judge(&c, "10.0.0.9:7", false); (w.reason == "") == c.Addr.IsLoopback() {
				t.Errorf("%q, rail %d, %s: %+v", entries, i, c.Addr, w)
			}
		}
		all, _ := Dials(v, []string{"10.0.0.9:7"})
		for _, c := range append(all, Plan(Query{View: v, Dialed: "10.0.0.9:7", Told: []string{"10.0.0.9:7", "127.0.0.1:7"}})...) {
			if c.Chosen && (HostOf(c.Remote) == "127.0.0.1" || c.Local != "" && c.Local != "10.0.0.1") {
				t.Errorf("%q: %+v", entries, c)
			}
		}
	}
}

// TestMostDials: of a name with very many addresses the first ones are tried.
func TestMostDials(t *testing.T) {
	var addrs []string
	for i := range mostDials + 4 {
		addrs = append(addrs, fmt.Sprintf("10.0.0.%d:7", i+1))
	}
	all, err := Dials(View{}, addrs)
	if err != nil || len(all) != len(addrs) {
		t.Fatal(all, err)
	}
	for i, c := range all {
		if c.Remote != addrs[i] || c.Chosen != (i < mostDials) || c.Reason == "" {
			t.Errorf("%d: %+v", i, c)
		}
	}
}

// TestFirstEntryCounts: a rail that several entries mean has the place of the first of the most exact.
func TestFirstEntryCounts(t *testing.T) {
	rail := func(i int) Rail {
		return Rail{Name: fmt.Sprintf("eth%d", i), Index: i, Addr: netip.MustParseAddr(fmt.Sprintf("10.%d.0.1", i)), Bits: 24, Traits: Ready}
	}
	for _, c := range []struct{ entries, want []string }{
		{[]string{"*1", "eth0", "eth*"}, []string{"10.1.0.1", "10.0.0.1"}},
		{[]string{"eth*", "eth1", "eth0"}, []string{"10.1.0.1", "10.0.0.1"}},
		{[]string{"eth1", "eth0", "10.1.0.1"}, []string{"10.0.0.1", "10.1.0.1"}},
	} {
		chosen, err := Select(c.entries)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range Usable(View{Rails: []Rail{rail(0), rail(1)}, Chosen: chosen}) {
			got = append(got, x.Host())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.entries, got, c.want)
		}
	}
}
