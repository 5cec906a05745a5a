package tcp

import (
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestZoneByName: a link-local address has its interface's name, as people write it; a number only if the interface is gone.
func TestZoneByName(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, want interfaces: %v", all, err)
	}
	link := netip.MustParseAddr("fe80::1")
	sa := &unix.SockaddrInet6{Port: 7, Addr: link.As16(), ZoneId: uint32(all[0].Index)}
	if got, want := addrOf(sa), netip.AddrPortFrom(link.WithZone(all[0].Name), 7); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	sa.ZoneId = 1 << 30
	if got, want := addrOf(sa), netip.AddrPortFrom(link.WithZone("1073741824"), 7); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestHintUnreachable: where there is a route and nobody answers, the route is not what is missing.
func TestHintUnreachable(t *testing.T) {
	for err, want := range map[error]string{
		unix.ENETUNREACH:  "no route from the local address to there",
		unix.EHOSTUNREACH: "nobody answers at that address, or a router says that there is no way to it: check the address, and that the peer is up",
	} {
		if got := hint("dial", err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
