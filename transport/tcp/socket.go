package tcp

import (
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// maxPieces of one write; the system's own limit is 1024.
const maxPieces = 64

// socket is the Stream over a real descriptor.
type socket struct {
	fd   int
	vec  *vector // shared by the sockets of an interface
	seen progress
}

// vector is what a write needs and must not be allocated for each.
type vector struct {
	msg unix.Msghdr
	iov [maxPieces]unix.Iovec
}

// Read implements transport.Stream.
func (s *socket) Read(p []byte) (int, error) {
	for {
		n, e := sysRead(s.fd, p)
		switch {
		case e == 0 && n == 0 && len(p) > 0:
			return 0, io.EOF
		case e == 0:
			return n, nil
		case e == unix.EAGAIN:
			return 0, transport.ErrAgain
		case e != unix.EINTR:
			return 0, e
		}
	}
}

// Writev implements transport.Stream.
func (s *socket) Writev(p [][]byte) (int, error) {
	v := s.vec
	p = p[:min(len(p), maxPieces)]
	for i, b := range p {
		v.iov[i].Base = nil
		if len(b) > 0 {
			v.iov[i].Base = &b[0]
		}
		v.iov[i].SetLen(len(b))
	}
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(len(p))
	for {
		n, e := sysWritev(s.fd, &v.msg)
		if e == unix.EINTR {
			continue
		}
		clear(v.iov[:len(p)]) // keep nobody's memory alive
		if e == 0 {
			return n, nil
		}
		if e == unix.EAGAIN || e == unix.ENOBUFS {
			return 0, transport.ErrAgain
		}
		return 0, e
	}
}

// Connected implements transport.Stream.
func (s *socket) Connected() error {
	e, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return err
	case e != 0:
		return unix.Errno(e)
	}
	peer, err := unix.Getpeername(s.fd)
	if err == unix.ENOTCONN {
		return transport.ErrAgain
	}
	if err != nil {
		return err
	}
	// A dial to a port that nobody listens on may be given this very port as its own, and then
	// meets itself. It is nobody all the same.
	if own, err := unix.Getsockname(s.fd); err == nil && addrOf(own) == addrOf(peer) {
		return unix.ECONNREFUSED
	}
	return nil
}

// Shutdown implements transport.Stream.
func (s *socket) Shutdown() error { return unix.Shutdown(s.fd, unix.SHUT_WR) }

// Reset implements transport.Stream.
func (s *socket) Reset() error { return sysReset(s.fd) }

// Close implements transport.Stream.
func (s *socket) Close(reset bool) error {
	if reset {
		_ = unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	return unix.Close(s.fd)
}

// Reached implements transport.Stream.
func (s *socket) Reached() uint64 { return s.seen.look(s.fd) }

// FD implements transport.Stream.
func (s *socket) FD() int { return s.fd }

// sockaddr turns an address into what the system takes.
func sockaddr(a netip.AddrPort) (family int, sa unix.Sockaddr, err error) {
	ip := a.Addr().Unmap()
	if ip.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}, nil
	}
	s := &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			s.ZoneId = uint32(n)
		} else if i, err := net.InterfaceByName(zone); err == nil {
			s.ZoneId = uint32(i.Index)
		} else {
			return 0, nil, err
		}
	}
	return unix.AF_INET6, s, nil
}

// zoneName is the interface's name, as people write it; its number if it has just gone.
func zoneName(index uint32) string {
	if i, err := net.InterfaceByIndex(int(index)); err == nil {
		return i.Name
	}
	return strconv.Itoa(int(index))
}

// addrOf is the other way around.
func addrOf(sa unix.Sockaddr) netip.AddrPort {
	switch s := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(s.Addr).Unmap()
		if s.ZoneId != 0 && ip.IsLinkLocalUnicast() {
			ip = ip.WithZone(zoneName(s.ZoneId))
		}
		return netip.AddrPortFrom(ip, uint16(s.Port))
	}
	return netip.AddrPort{}
}

// parseAddr reads "host:port" with a literal address; no host is loopback, as for listeners everywhere in braid.
func parseAddr(addr string) (netip.AddrPort, error) {
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	return netip.ParseAddrPort(addr)
}

// nameOf is the bound or the peer's address for people, "" if there is none.
func nameOf(sa unix.Sockaddr, err error) string {
	if a := addrOf(sa); err == nil && a.Port() != 0 {
		return a.String()
	}
	return ""
}
