package udp

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/soft/carrier"
)

// socket is a carrier over one socket.
type socket struct {
	fd      int
	local   netip.AddrPort
	v4      bool
	zone    uint32 // of the local address's link
	sources []source
	ports   []uint16 // of sources
	bytes   int
	mac     rdma.MAC
	segment bool
	own     source
	out     sender
	in      receiver
}

// Open binds a socket to an address; port 0 picks one.
//
// Errors: rdma.ErrInvalid for an address that isn't this machine's, or 0.0.0.0 or ::, since packets are sealed for one; the system's.
func Open(at netip.AddrPort, o Options) (carrier.Carrier, error) {
	addr := at.Addr().Unmap()
	if !addr.IsValid() || addr.IsUnspecified() {
		return nil, fmt.Errorf("%w: a device needs one address, not %v", rdma.ErrInvalid, at)
	}
	bytes, mac, index, err := link(addr)
	if err != nil {
		return nil, err
	}
	s := &socket{fd: -1, v4: addr.Is4(), zone: uint32(index), bytes: bytes, mac: mac, segment: !o.NoSegment}
	if o.BufferBytes == 0 {
		o.BufferBytes = defaultBuffer
	}
	if err := s.open(netip.AddrPortFrom(addr.WithZone(""), at.Port()), o.BufferBytes); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("udp: opening a socket at %v: %w", at, err)
	}
	for range o.Sources {
		x := &socket{v4: s.v4, zone: s.zone}
		if err := x.open(netip.AddrPortFrom(s.local.Addr(), 0), o.BufferBytes); err != nil {
			_ = s.Close()
			return nil, fmt.Errorf("udp: opening a socket at %v to send from: %w", s.local.Addr(), err)
		}
		_ = unix.SetsockoptInt(x.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1) // what somebody sends there is of no use
		s.sources, s.ports = append(s.sources, x.own), append(s.ports, x.local.Port())
	}
	s.out.open()
	s.in.open()
	return s, nil
}

// source is a socket that is sent from.
type source struct {
	fd       int
	port     uint16
	tos, ttl int // what it sends with now
}

func (s *socket) open(at netip.AddrPort, buffer int) (err error) {
	family := unix.AF_INET6
	if s.v4 {
		family = unix.AF_INET
	}
	s.fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := s.options(buffer); err != nil {
		return err
	}
	if err := unix.Bind(s.fd, s.sockaddr(at)); err != nil {
		return os.NewSyscallError("bind", err)
	}
	name, err := unix.Getsockname(s.fd)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	switch n := name.(type) {
	case *unix.SockaddrInet4:
		s.local = netip.AddrPortFrom(at.Addr(), uint16(n.Port))
	case *unix.SockaddrInet6:
		s.local = netip.AddrPortFrom(at.Addr(), uint16(n.Port))
	}
	s.own = source{fd: s.fd, port: s.local.Port(), tos: -1, ttl: -1}
	return nil
}

// options sets what a socket needs so that the identification is known.
func (s *socket) options(buffer int) error {
	type option struct {
		level, name, value int
		text               string
	}
	must := []option{{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO, "IP_MTU_DISCOVER"}}
	if !s.v4 {
		must = []option{
			{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1, "IPV6_V6ONLY"},
			{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO, "IPV6_MTU_DISCOVER"},
			// RoCE's own devices send without a UDP checksum: the ICRC covers more.
			{unix.IPPROTO_UDP, unix.UDP_NO_CHECK6_RX, 1, "UDP_NO_CHECK6_RX"},
		}
	}
	for _, o := range must {
		if err := unix.SetsockoptInt(s.fd, o.level, o.name, o.value); err != nil {
			return os.NewSyscallError("setsockopt "+o.text, err)
		}
	}
	// What follows is speed: without it things work.
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
	_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, buffer)
	if s.segment {
		_ = unix.SetsockoptInt(s.fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1)
	}
	return nil
}

func (s *socket) sockaddr(a netip.AddrPort) unix.Sockaddr {
	if s.v4 {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: s.scope(a.Addr())}
}

// scope is the link of a link-local address: the socket's own.
func (s *socket) scope(a netip.Addr) uint32 {
	if a.IsLinkLocalUnicast() {
		return s.zone
	}
	return 0
}

// Local implements carrier.Carrier.
func (s *socket) Local() netip.AddrPort { return s.local }

// LinkBytes implements carrier.Carrier.
func (s *socket) LinkBytes() int { return s.bytes }

// MAC implements carrier.Carrier.
func (s *socket) MAC() rdma.MAC { return s.mac }

// BufferBytes is what the system granted: it says twice of what it was asked for, and uses the half for its own books.
func (s *socket) BufferBytes() int {
	n, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return 0
	}
	return n / 2
}

// Resolve asks the system for the way: it finds the neighbour by itself, each time.
func (s *socket) Resolve(to netip.AddrPort, flow uint32) (carrier.Route, error) {
	fd, err := unix.Socket(s.family(), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return carrier.Route{}, os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	// Connecting sends nothing, but looks for a way from our address.
	err = unix.Bind(fd, s.sockaddr(netip.AddrPortFrom(s.local.Addr(), 0)))
	if err == nil {
		err = unix.Connect(fd, s.sockaddr(to))
	}
	if err != nil {
		return carrier.Route{}, fmt.Errorf("%w: %v from %v: %w", rdma.ErrUnreachable, to.Addr(), s.local.Addr(), err)
	}
	r := carrier.Route{To: to}
	if len(s.ports) > 0 {
		r.From = (&rdma.PortAttr{Sources: s.ports}).Source(flow)
	}
	return r, nil
}

func (s *socket) family() int {
	if s.v4 {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

// Sources implements carrier.Carrier.
func (s *socket) Sources() []uint16 { return s.ports }

// MaxID implements carrier.Carrier: one less than the datagrams of a run.
func (s *socket) MaxID() uint16 { return maxRun - 1 }

// Event implements carrier.Carrier: a socket notices nothing.
func (s *socket) Event() (carrier.Event, bool) { return carrier.Event{}, false }

// FD implements carrier.Carrier.
func (s *socket) FD() int { return s.fd }

// Deadline implements carrier.Carrier: at once, if what was taken from the socket is not handed out yet.
func (s *socket) Deadline() time.Duration {
	if s.in.waiting() {
		return 1
	}
	return 0
}

// Close implements carrier.Carrier.
func (s *socket) Close() error {
	if s.fd < 0 {
		return nil
	}
	for _, x := range s.sources {
		_ = unix.Close(x.fd)
	}
	fd := s.fd
	s.fd = -1
	return os.NewSyscallError("close", unix.Close(fd))
}
