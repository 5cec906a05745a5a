package rail

import (
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/topo"
)

func ifinfo(arp uint16, index, flags uint32, attrs ...[]byte) message {
	b := make([]byte, unix.SizeofIfInfomsg)
	native.PutUint16(b[2:], arp)
	native.PutUint32(b[4:], index)
	native.PutUint32(b[8:], flags)
	for _, a := range attrs {
		b = append(b, a...)
	}
	return message{kind: unix.RTM_NEWLINK, body: b}
}

func attr(kind uint16, body []byte) []byte { return appendAttr(nil, kind, body) }
func named(name string) []byte             { return attr(unix.IFLA_IFNAME, append([]byte(name), 0)) }
func ofKind(kind string) []byte {
	return attr(unix.IFLA_LINKINFO|unix.NLA_F_NESTED, attr(unix.IFLA_INFO_KIND, append([]byte(kind), 0)))
}
func port(of uint32) []byte { return attr(unix.IFLA_MASTER, native.AppendUint32(nil, of)) }

// TestTraits: what kinds of interfaces lead where.
func TestTraits(t *testing.T) {
	const on = unix.IFF_UP | unix.IFF_LOWER_UP
	ether := uint16(unix.ARPHRD_ETHER)
	var all []link
	for _, m := range []message{
		ifinfo(unix.ARPHRD_LOOPBACK, 1, on|unix.IFF_LOOPBACK, named("lo")),
		ifinfo(ether, 2, on, named("eth0")),
		ifinfo(ether, 3, unix.IFF_UP, named("eth1")),
		ifinfo(ether, 4, 0, named("eth2")),
		ifinfo(ether, 5, on, named("docker0"), ofKind("bridge")),
		ifinfo(ether, 6, on, named("veth1"), ofKind("veth"), port(5)),
		ifinfo(ether, 7, on, named("br0"), ofKind("bridge")),
		ifinfo(ether, 8, on, named("eth3"), port(7)),
		ifinfo(ether, 9, on, named("flannel.1"), ofKind("vxlan")),
		ifinfo(unix.ARPHRD_NONE, 10, on, named("wg0"), ofKind("wireguard")),
		ifinfo(unix.ARPHRD_NONE, 11, on, named("tun0"), ofKind("tun")),
		ifinfo(ether, 12, on, named("dummy0"), ofKind("dummy")),
		ifinfo(ether, 13, on, named("bond0"), ofKind("bond")),
		ifinfo(ether, 14, on, named("eth0.7"), ofKind("vlan")),
	} {
		l, err := parseLink(m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	want := map[string]topo.Trait{
		"lo": topo.Ready | topo.Loopback, "eth0": topo.Ready, "eth1": topo.Up, "eth2": 0, "docker0": topo.Ready | topo.HostOnly, "veth1": topo.Ready,
		"br0": topo.Ready, "eth3": topo.Ready, "flannel.1": topo.Ready | topo.Tunnel, "wg0": topo.Ready | topo.Tunnel, "tun0": topo.Ready | topo.Tunnel,
		"dummy0": topo.Ready | topo.HostOnly, "bond0": topo.Ready, "eth0.7": topo.Ready,
	}
	for i := range all {
		l := &all[i]
		if got := l.traits(all); got != want[l.name] {
			t.Errorf("%s: traits %#x, want %#x", l.name, got, want[l.name])
		}
	}
}

func ifaddr(bits, flags byte, index uint32, attrs ...[]byte) message {
	b := make([]byte, unix.SizeofIfAddrmsg)
	b[1], b[2] = bits, flags
	native.PutUint32(b[4:], index)
	for _, a := range attrs {
		b = append(b, a...)
	}
	return message{kind: unix.RTM_NEWADDR, body: b}
}

func TestAddresses(t *testing.T) {
	ip := func(s string) []byte { return netip.MustParseAddr(s).AsSlice() }
	flags := func(f uint32) []byte { return attr(unix.IFA_FLAGS, native.AppendUint32(nil, f)) }
	for _, c := range []struct {
		name string
		m    message
		want topo.Rail
	}{
		{"IPv4", ifaddr(24, unix.IFA_F_PERMANENT, 2, attr(unix.IFA_ADDRESS, ip("10.0.0.1")), attr(unix.IFA_LOCAL, ip("10.0.0.1"))),
			topo.Rail{Index: 2, Addr: netip.MustParseAddr("10.0.0.1"), Bits: 24}},
		{"point to point", ifaddr(32, 0, 2, attr(unix.IFA_ADDRESS, ip("10.0.0.2")), attr(unix.IFA_LOCAL, ip("10.0.0.1"))),
			topo.Rail{Index: 2, Addr: netip.MustParseAddr("10.0.0.1"), Bits: 32}},
		{"a secondary one is not temporary", ifaddr(24, unix.IFA_F_SECONDARY, 2, attr(unix.IFA_LOCAL, ip("10.0.0.3"))),
			topo.Rail{Index: 2, Addr: netip.MustParseAddr("10.0.0.3"), Bits: 24}},
		{"IPv6", ifaddr(64, 0, 3, attr(unix.IFA_ADDRESS, ip("2001:db8::1"))),
			topo.Rail{Index: 3, Addr: netip.MustParseAddr("2001:db8::1"), Bits: 64}},
		{"tentative", ifaddr(64, unix.IFA_F_TENTATIVE, 3, attr(unix.IFA_ADDRESS, ip("2001:db8::1"))),
			topo.Rail{Index: 3, Addr: netip.MustParseAddr("2001:db8::1"), Bits: 64, Traits: topo.Tentative}},
		{"tentative and optimistic", ifaddr(64, unix.IFA_F_TENTATIVE|unix.IFA_F_OPTIMISTIC, 3, attr(unix.IFA_ADDRESS, ip("2001:db8::1"))),
			topo.Rail{Index: 3, Addr: netip.MustParseAddr("2001:db8::1"), Bits: 64}},
		{"a duplicate", ifaddr(64, 0, 3, attr(unix.IFA_ADDRESS, ip("2001:db8::1")), flags(unix.IFA_F_DADFAILED)),
			topo.Rail{Index: 3, Addr: netip.MustParseAddr("2001:db8::1"), Bits: 64, Traits: topo.Tentative}},
		{"temporary and deprecated", ifaddr(64, 0, 3, attr(unix.IFA_ADDRESS, ip("2001:db8::1")), flags(unix.IFA_F_TEMPORARY|unix.IFA_F_DEPRECATED)),
			topo.Rail{Index: 3, Addr: netip.MustParseAddr("2001:db8::1"), Bits: 64, Traits: topo.Temporary | topo.Deprecated}},
	} {
		if got, err := parseAddr(c.m); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestRoute(t *testing.T) {
	lo := netip.MustParseAddr("127.0.0.1")
	hop := Route(lo, lo)
	if !hop.Known {
		t.Skip("this system does not say where packets go")
	}
	if hop.None || hop.Name != "lo" || !hop.Direct {
		t.Errorf("to loopback: %+v", hop)
	}
	if hop := Route(netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1")); hop.Known && !hop.None {
		t.Errorf("from an address that this host does not have: %+v", hop)
	}
}

// FuzzMessages: whatever the system says, nothing is read beyond it.
func FuzzMessages(f *testing.F) {
	whole := func(m message) []byte {
		b := native.AppendUint32(nil, uint32(headerSize+len(m.body)))
		b = native.AppendUint16(b, m.kind)
		b = append(b, make([]byte, headerSize-6)...)
		return append(b, m.body...)
	}
	f.Add(whole(ifinfo(1, 2, 3, named("eth0"), ofKind("veth"), port(1))))
	f.Add(whole(ifaddr(24, 0, 2, attr(unix.IFA_LOCAL, []byte{10, 0, 0, 1}))))
	f.Add([]byte{16, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		ms, _ := messages(b)
		for _, m := range ms {
			if l, err := parseLink(m); err == nil {
				l.traits([]link{l})
			}
			if r, err := parseAddr(m); err == nil && r.Addr.IsValid() && r.Addr.BitLen() == 0 {
				t.Errorf("%+v", r)
			}
			_ = failure(m)
		}
	})
}
