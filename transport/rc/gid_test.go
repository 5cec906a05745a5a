package rc_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// rows are the GIDs of a port with several addresses, of both versions.
func rows() []rdma.GIDEntry {
	row := func(i int, addr string, t rdma.GIDType) rdma.GIDEntry {
		return rdma.GIDEntry{Index: i, GID: rdma.GIDFrom(netip.MustParseAddr(addr)), Type: t}
	}
	return []rdma.GIDEntry{
		row(0, "fe80::1", rdma.RoCEv1), row(1, "fe80::1", rdma.RoCEv2), row(2, "10.0.0.1", rdma.RoCEv1), row(3, "2001:db8::1", rdma.RoCEv2),
		row(4, "2001:db8::1", rdma.RoCEv1), row(5, "10.0.0.1", rdma.RoCEv2), row(6, "10.0.0.7", rdma.RoCEv2),
	}
}

// TestGIDs: which row of a port's table a connection uses, and its datagrams, and the queue pair that binds windows: the best one with which the device can
// send, or the one that somebody asked for; else the reason why not.
func TestGIDs(t *testing.T) {
	at := func(i int) *int { return &i }
	for _, c := range []struct {
		name   string
		has    string // the address that the device can send from
		local  string // that is dialed from
		want   *int   // Options.GIDIndex
		remote string
		tried  []int // before there is one
		row    int
		err    string
	}{
		{name: "the best one", has: "10.0.0.1", remote: "10.0.0.2", tried: []int{5}, row: 5},
		{name: "the first ones don't work", has: "10.0.0.7", remote: "10.0.0.2", tried: []int{5, 6}, row: 6},
		{name: "IPv6 to an IPv6 peer", has: "2001:db8::1", remote: "2001:db8::2", tried: []int{3}, row: 3},
		{name: "a link-local one last", has: "fe80::1", remote: "fe80::2", tried: []int{3, 1}, row: 1},
		{name: "that of the local address", has: "2001:db8::1", local: "2001:db8::1", remote: "2001:db8::2", tried: []int{3}, row: 3},
		{name: "asked for", has: "fe80::1", want: at(1), remote: "fe80::2", tried: []int{1}, row: 1},
		{name: "asked for, and it can't", has: "10.0.0.1", want: at(3), remote: "10.0.0.2", tried: []int{3}, err: "from GID 3 (2001:db8::1, RoCE v2)"},
		{name: "asked for, and there is none", has: "10.0.0.1", want: at(9), remote: "10.0.0.2", err: "no GID with index 9"},
		{name: "none works", has: "10.0.0.9", remote: "10.0.0.2", tried: []int{5, 6, 2}, err: "from GID 2 (10.0.0.1, RoCE v1)"},
		{name: "of another version than peers", has: "10.0.0.1", want: at(2), remote: "10.0.0.2", tried: []int{2}, err: "is RoCE v1"},
		{name: "of another family than the peer", has: "10.0.0.1", want: at(5), remote: "2001:db8::2", tried: []int{5}, err: "different families"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newNetwork(t, 60, fabricLatency)
			there := w.iface(c.remote, rc.Options{TrustNetwork: true, ReadFrom: 10 << 10})
			d := &peer{w: w, name: "acceptor", decision: transport.Hold}
			ln, err := there.Listen(netip.AddrPortFrom(netip.MustParseAddr(c.remote), 0).String(), acceptor{next: func(transport.Endpoint) *peer { return d }})
			if err != nil {
				t.Fatal(err)
			}
			w.hooks = &hooks{table: rows()}
			here := w.iface(c.has, rc.Options{TrustNetwork: true, ReadFrom: 10 << 10, GIDIndex: c.want, TrafficClass: 104, HopLimit: 9})
			p := &peer{w: w, name: "dialer", decision: transport.Hold, other: d}
			d.other = p
			p.ep, err = here.Dial(c.local, ln.Addr(), transport.Options{}, p)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !slices.Equal(w.hooks.tried, c.tried) {
					t.Errorf("tried %v, want %v: %v", w.hooks.tried, c.tried, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tried := w.hooks.tried; !slices.Equal(tried, append(slices.Clone(c.tried), c.row)) { // and with that one the request was sent
				t.Errorf("tried %v, want %v", tried, c.tried)
			}
			w.until("a connection", func() bool { return p.up == 1 && d.ep != nil })
			p.ep.Admit(1<<20, true)
			d.ep.Admit(1<<20, true)
			p.posts(3, 100_000)
			w.until("the frames", func() bool { return d.got == 3 })
			if n := len(w.hooks.paths); n != 2 {
				t.Errorf("%d queue pairs were connected: that of the connection, and one that binds windows", n)
			}
			for _, a := range w.hooks.paths {
				if a.AV.SGIDIndex != c.row || a.AV.TrafficClass != 104 || a.AV.HopLimit != 9 {
					t.Errorf("a queue pair sends as %+v, want row %d, class 104, 9 hops", a.AV, c.row)
				}
			}
			if want := fmt.Sprint(rows()[c.row].GID.IP()); !strings.Contains(p.ep.Local(), want) {
				t.Errorf("local is %s, want %s", p.ep.Local(), want)
			}
			w.pair(here, there).idle(p, d)
		})
	}
}

// TestListenWithoutPeers: who listens at a GID of another version than peers speak hears it at once, not as silence.
func TestListenWithoutPeers(t *testing.T) {
	w := newNetwork(t, 61, fabricLatency)
	w.hooks = &hooks{table: rows()}
	two := 2
	i := w.iface("10.0.0.1", rc.Options{TrustNetwork: true, GIDIndex: &two})
	if _, err := i.Listen("10.0.0.1:7000", acceptor{}); err == nil || !strings.Contains(err.Error(), "is RoCE v1") {
		t.Errorf("%v", err)
	}
	i.Progress()
	if n := len(w.live()); n != 0 {
		t.Errorf("%d devices are left open", n)
	}
}

// TestGIDOfPortThatIsDown: what refuses everything says nothing about rows: the best one is taken, and is there when the port is up.
func TestGIDOfPortThatIsDown(t *testing.T) {
	w := newNetwork(t, 62, fabricLatency)
	w.hooks = &hooks{table: rows(), down: true}
	i := w.iface("10.0.0.9", rc.Options{TrustNetwork: true})
	ep, err := i.Dial("", "10.0.0.2:7000", transport.Options{}, &peer{w: w, decision: transport.Hold})
	if err != nil || !strings.HasPrefix(ep.Local(), "10.0.0.1:") || !slices.Equal(w.hooks.tried[:1], []int{5}) {
		t.Errorf("%v, tried %v", err, w.hooks.tried)
	}
	if err := i.Close(); err != nil {
		t.Error(err)
	}
}
