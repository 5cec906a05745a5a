package mail_test

import (
	"net/netip"
	"testing"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/transport/rc/mail"
)

func gid(i int, addr string, t rdma.GIDType) rdma.GIDEntry {
	return rdma.GIDEntry{Index: i, GID: rdma.GIDFrom(netip.MustParseAddr(addr)), Type: t}
}

func TestCandidates(t *testing.T) {
	all := []rdma.GIDEntry{
		gid(0, "fe80::1", rdma.RoCEv1), gid(1, "fe80::1", rdma.RoCEv2), gid(2, "10.0.0.1", rdma.RoCEv1),
		gid(3, "2001:db8::1", rdma.RoCEv2), gid(5, "10.0.0.1", rdma.RoCEv2), gid(6, "10.0.0.2", rdma.RoCEv2),
	}
	five, four := 1, 4
	for _, c := range []struct {
		table []rdma.GIDEntry
		local string
		want  *int
		index int // -1: none
	}{
		{all, "", nil, 5},            // v2, IPv4
		{all[:4], "", nil, 3},        // v2, IPv6
		{all[:3], "", nil, 1},        // v2, link-local
		{all[2:3], "", nil, 2},       // v1
		{all, "10.0.0.2", nil, 6},    // the address that somebody wants
		{all, "", &five, 1},          // the index that somebody wants
		{all, "", &four, -1},         // there is none
		{all, "10.0.0.9", nil, -1},   // not of this port
		{all, "10.0.0.2", &five, -1}, // both, and they differ
		{nil, "", nil, -1},
	} {
		var local netip.Addr
		if c.local != "" {
			local = netip.MustParseAddr(c.local)
		}
		rows, err := mail.Candidates(c.table, mail.Wanted{Local: local, Index: c.want})
		if (err != nil) != (c.index < 0) || err == nil && rows[0].Index != c.index {
			t.Errorf("of %v for %q: %v, %v, want index %d first", c.table, c.local, rows, err, c.index)
		}
	}
	// Of the peer's family, where there is one and none was asked for.
	for _, c := range []struct {
		table []rdma.GIDEntry
		want  *int
		peer  string
		index int
	}{
		{all, nil, "10.0.0.9", 5}, {all, nil, "2001:db8::9", 3}, {all[:2], nil, "10.0.0.9", 1}, {all, &five, "10.0.0.9", 1},
	} {
		rows, err := mail.Candidates(c.table, mail.Wanted{Peer: netip.MustParseAddr(c.peer), Index: c.want})
		if err != nil || rows[0].Index != c.index {
			t.Errorf("to %s, of %v: %v, %v, want index %d first", c.peer, c.table, rows, err, c.index)
		}
	}
	if mail.Reaches(all[4], netip.MustParseAddr("10.9.9.9")) != nil {
		t.Error("IPv4 reaches IPv4")
	}
	if mail.Reaches(all[4], netip.MustParseAddr("2001::1")) == nil || mail.Reaches(all[2], netip.MustParseAddr("10.9.9.9")) == nil {
		t.Error("another family, or RoCE v1, needs a reason")
	}
}
