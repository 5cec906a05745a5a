package rail

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/topo"
)

// link is an interface.
type link struct {
	index  int
	name   string
	kind   string // "" if it is hardware, or as good as
	flags  uint32
	arp    uint16
	master int
}

// Kinds by what carries them. What isn't named is taken for a network of its own.
var (
	tunnels = []string{"vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "ip6tnl", "sit", "erspan", "tun", "wireguard", "vti", "vti6", "xfrm", "ppp", "gtp", "bareudp", "l2tpeth"}
	nowhere = []string{"dummy", "ifb", "nlmon", "vcan", "netdevsim"}
	// virtual ports of a bridge lead to guests of this host
	virtual = []string{"veth", "tun", "dummy", "ifb", "macvtap"}
)

// Read is the table of this host's rails: each address of each interface.
func Read() ([]topo.Rail, error) { return newReader().read() }

// reader reads tables, and remembers what is dear to find out.
type reader struct {
	speeds map[speedKey]int
}

// speedKey: an interface's speed is asked for again when it comes up.
type speedKey struct {
	index int
	name  string
	up    bool
}

func newReader() *reader { return &reader{speeds: map[speedKey]int{}} }

func (rd *reader) read() ([]topo.Rail, error) {
	c, err := dial()
	if err != nil {
		return nil, fmt.Errorf("interfaces: %w", err)
	}
	defer c.close()
	var links []link
	dump := uint16(unix.NLM_F_DUMP)
	err = c.ask(unix.RTM_GETLINK, dump, make([]byte, unix.SizeofIfInfomsg), func(m message) error {
		l, err := parseLink(m)
		if err == nil && m.kind == unix.RTM_NEWLINK {
			links = append(links, l)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("interfaces: %w", err)
	}
	var rails []topo.Rail
	err = c.ask(unix.RTM_GETADDR, dump, make([]byte, unix.SizeofIfAddrmsg), func(m message) error {
		r, err := parseAddr(m)
		if i := slices.IndexFunc(links, func(l link) bool { return l.index == r.Index }); err == nil && i >= 0 && m.kind == unix.RTM_NEWADDR {
			rails = append(rails, rd.on(r, &links[i], links))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("addresses: %w", err)
	}
	slices.SortStableFunc(rails, func(a, b topo.Rail) int { return a.Index - b.Index })
	return rails, nil
}

// on joins an address with its interface.
func (rd *reader) on(r topo.Rail, l *link, all []link) topo.Rail {
	r.Name = l.name
	r.Traits |= l.traits(all)
	if r.Addr.IsLinkLocalUnicast() && r.Addr.Is6() {
		r.Addr = r.Addr.WithZone(l.name)
	}
	if r.Traits&(topo.Loopback|topo.Ready) == topo.Ready {
		r.Speed = rd.speed(l)
	}
	return r
}

// parseLink reads an interface.
func parseLink(m message) (l link, err error) {
	if len(m.body) < unix.SizeofIfInfomsg {
		return l, errTruncated
	}
	l.arp = native.Uint16(m.body[2:])
	l.index = int(int32(native.Uint32(m.body[4:])))
	l.flags = native.Uint32(m.body[8:])
	return l, m.attributes(unix.SizeofIfInfomsg, func(kind uint16, body []byte) {
		switch {
		case kind == unix.IFLA_IFNAME:
			l.name = text(body)
		case kind == unix.IFLA_MASTER && len(body) >= 4:
			l.master = int(native.Uint32(body))
		case kind == unix.IFLA_LINKINFO:
			_ = attributes(body, func(kind uint16, body []byte) {
				if kind == unix.IFLA_INFO_KIND {
					l.kind = text(body)
				}
			})
		}
	})
}

// parseAddr reads an address. The name of its interface is not known yet.
func parseAddr(m message) (r topo.Rail, err error) {
	if len(m.body) < unix.SizeofIfAddrmsg {
		return r, errTruncated
	}
	r.Bits = int(m.body[1])
	flags := uint32(m.body[2])
	r.Index = int(native.Uint32(m.body[4:]))
	var local, other netip.Addr
	err = m.attributes(unix.SizeofIfAddrmsg, func(kind uint16, body []byte) {
		switch {
		case kind == unix.IFA_LOCAL:
			local, _ = netip.AddrFromSlice(body)
		case kind == unix.IFA_ADDRESS: // of the other end, if there is a local one too
			other, _ = netip.AddrFromSlice(body)
		case kind == unix.IFA_FLAGS && len(body) >= 4:
			flags = native.Uint32(body)
		}
	})
	if r.Addr = local; !local.IsValid() {
		r.Addr = other
	}
	if flags&(unix.IFA_F_TENTATIVE|unix.IFA_F_DADFAILED) != 0 && flags&unix.IFA_F_OPTIMISTIC == 0 {
		r.Traits |= topo.Tentative
	}
	if flags&unix.IFA_F_DEPRECATED != 0 {
		r.Traits |= topo.Deprecated
	}
	if flags&unix.IFA_F_TEMPORARY != 0 && r.Addr.Is6() { // IPv4 has the same bit for secondary ones
		r.Traits |= topo.Temporary
	}
	return r, err
}

// traits is what the interface says of its addresses.
func (l *link) traits(all []link) (t topo.Trait) {
	if l.flags&unix.IFF_UP != 0 {
		t |= topo.Up
	}
	if l.flags&unix.IFF_LOWER_UP != 0 { // IFF_RUNNING says the same up to a second later
		t |= topo.Carrier
	}
	switch {
	case l.flags&unix.IFF_LOOPBACK != 0:
		t |= topo.Loopback
	case slices.Contains(tunnels, l.kind), l.arp == unix.ARPHRD_NONE, l.arp == unix.ARPHRD_PPP, l.arp == unix.ARPHRD_TUNNEL, l.arp == unix.ARPHRD_TUNNEL6:
		t |= topo.Tunnel
	case slices.Contains(nowhere, l.kind):
		t |= topo.HostOnly
	case l.kind == "bridge" && !slices.ContainsFunc(all, func(p link) bool { return p.master == l.index && !slices.Contains(virtual, p.kind) }):
		t |= topo.HostOnly
	}
	return t
}

// speed is what the driver says, in Mbit/s; 0 if it says nothing. To ask it may take a while, so it is asked once.
func (rd *reader) speed(l *link) int {
	key := speedKey{l.index, l.name, l.flags&unix.IFF_LOWER_UP != 0}
	if s, ok := rd.speeds[key]; ok {
		return s
	}
	n := 0
	if b, err := os.ReadFile("/sys/class/net/" + l.name + "/speed"); err == nil {
		n, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	delete(rd.speeds, speedKey{l.index, l.name, !key.up})
	rd.speeds[key] = max(n, 0)
	return rd.speeds[key]
}

// Route asks where a packet from one address to another would leave.
func Route(local, remote netip.Addr) topo.Hop {
	c, err := dial()
	if err != nil {
		return topo.Hop{}
	}
	defer c.close()
	src, dst := local.Unmap().WithZone("").AsSlice(), remote.Unmap().WithZone("").AsSlice()
	family := byte(unix.AF_INET)
	if len(dst) == 16 {
		family = unix.AF_INET6
	}
	b := make([]byte, unix.SizeofRtMsg)
	b[0], b[1], b[2] = family, byte(8*len(dst)), byte(8*len(src))
	b = appendAttr(b, unix.RTA_DST, dst)
	b = appendAttr(b, unix.RTA_SRC, src)
	if zone := remote.Zone(); zone != "" {
		if i := zoneIndex(zone); i != 0 {
			b = appendAttr(b, unix.RTA_OIF, native.AppendUint32(nil, uint32(i)))
		}
	}
	hop := topo.Hop{Known: true, Direct: true}
	err = c.ask(unix.RTM_GETROUTE, 0, b, func(m message) error {
		if len(m.body) >= unix.SizeofRtMsg {
			switch m.body[7] { // what kind of route it is
			case unix.RTN_UNREACHABLE, unix.RTN_PROHIBIT, unix.RTN_BLACKHOLE:
				hop.None = true
			}
		}
		return m.attributes(unix.SizeofRtMsg, func(kind uint16, body []byte) {
			switch {
			case kind == unix.RTA_OIF && len(body) >= 4:
				hop.Index = int(native.Uint32(body))
			case kind == unix.RTA_GATEWAY, kind == unix.RTA_VIA:
				hop.Direct = false
			}
		})
	})
	switch {
	case isUnreachable(err):
		return topo.Hop{Known: true, None: true}
	case err != nil:
		return topo.Hop{}
	}
	hop.Name = nameOf(hop.Index)
	return hop
}
