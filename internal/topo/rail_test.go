package topo

import (
	"net/netip"
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
