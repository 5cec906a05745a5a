package mail

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/openbraid/braid/rdma"
)

// Wanted is which row of a port's table somebody wants. What is not valid, or nil, is not said.
type Wanted struct {
	Local netip.Addr // the address
	Peer  netip.Addr // who is to be reached
	Index *int       // of the row
}

// Candidates are the rows of a port's table that may be used, the best first: of the peer's family, if there are any and no row was asked for; RoCE v2 before v1, IPv4 before
// IPv6, and a link-local address last.
//
// Source: uct_ib_device_select_gid.
func Candidates(table []rdma.GIDEntry, w Wanted) ([]rdma.GIDEntry, error) {
	local, want := w.Local, w.Index
	var rows, same []rdma.GIDEntry
	for _, e := range table {
		if (want != nil && e.Index != *want) || (local.IsValid() && e.GID.IP() != local) {
			continue
		}
		rows = append(rows, e)
		if e.GID.IP().Is4() == w.Peer.Is4() {
			same = append(same, e)
		}
	}
	if w.Peer.IsValid() && want == nil && len(same) > 0 {
		rows = same
	}
	switch {
	case len(rows) == 0 && want != nil:
		return nil, fmt.Errorf("the port has no GID with index %d and address %v: %v", *want, local, table)
	case len(rows) == 0:
		return nil, fmt.Errorf("the port has no GID of %v: %v", local, table)
	}
	slices.SortStableFunc(rows, func(a, b rdma.GIDEntry) int { return rank(a) - rank(b) })
	return rows, nil
}

// rank orders GIDs: the least is the best.
func rank(e rdma.GIDEntry) int {
	ip, r := e.GID.IP(), 0
	if e.Type != rdma.RoCEv2 {
		r += 4
	}
	if !ip.Is4() {
		r++
	}
	if ip.IsLinkLocalUnicast() {
		r++
	}
	return r
}

// Reaches says why a peer can't be reached from a GID.
func Reaches(own rdma.GIDEntry, peer netip.Addr) error {
	switch {
	case own.Type != rdma.RoCEv2:
		return fmt.Errorf("%v of the port is %v, braid's peers speak %v", own.GID, own.Type, rdma.RoCEv2)
	case own.GID.IP().Is4() != peer.Is4():
		return fmt.Errorf("%v and %v are of different families: listen on or dial from an address of the peer's", own.GID, peer)
	}
	return nil
}

// ParseAddr reads "host:port" with a literal address.
func ParseAddr(s string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		return a, fmt.Errorf("%q: an address and a port, such as 127.0.0.1:7000", s)
	}
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}

// AddrOf is the address of a peer, for people.
func AddrOf(a rdma.AHAttr) netip.AddrPort { return netip.AddrPortFrom(a.DGID.IP(), a.Port) }
