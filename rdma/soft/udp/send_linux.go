package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma/soft/carrier"
	"github.com/openbraid/braid/rdma/soft/packet"
)

const (
	maxRun      = 64    // datagrams of one message
	maxRunBytes = 65000 // below what an IP packet carries, with its headers
	maxMessages = 64    // of one call
)

// message is struct mmsghdr.
type message struct {
	hdr unix.Msghdr
	len uint32
	_   [4]byte
}

// sender is the memory of a call of sendmmsg.
type sender struct {
	msgs  [maxMessages]message
	iovs  [maxMessages]unix.Iovec
	names [maxMessages]unix.RawSockaddrInet6 // large enough for either family
	cmsgs [maxMessages][controlBytes]byte
	runs  [maxMessages]int // datagrams of each message
	sum   packet.Sum
}

// controlBytes is room for one control message of up to 8 bytes.
const controlBytes = unix.SizeofCmsghdr + 8

func (o *sender) open() {
	for i := range o.msgs {
		h := &o.msgs[i].hdr
		h.Name = (*byte)(unsafe.Pointer(&o.names[i]))
		h.Iov = &o.iovs[i]
		h.SetIovlen(1)
	}
}

// Send implements carrier.Carrier.
func (s *socket) Send(batch []carrier.Out) int {
	done := 0
	for done < len(batch) {
		sent, err := s.send(batch[done:])
		for _, k := range s.out.runs[:sent] {
			done += k
		}
		switch err {
		case 0:
		case unix.EAGAIN, unix.ENOBUFS:
			return done
		case unix.EIO, unix.EINVAL:
			if s.out.runs[sent] > 1 { // this link can't cut: do it ourselves from now on
				s.segment = false
				continue
			}
			done++
		default:
			done += s.out.runs[sent] // refused for good: lost
		}
	}
	return done
}

// send sends the first datagrams.
func (s *socket) send(batch []carrier.Out) (int, unix.Errno) {
	from := s.sourceOf(batch[0].Route)
	return s.sendmmsg(from.fd, s.prepare(from, batch))
}

// sourceOf is the socket that a route leaves from.
func (s *socket) sourceOf(r *carrier.Route) *source {
	if r.From != 0 {
		for i := range s.sources {
			if s.sources[i].port == r.From {
				return &s.sources[i]
			}
		}
	}
	return &s.own
}

// prepare makes messages of the first datagrams, and seals them. They leave from one socket, with one traffic class and hop limit.
func (s *socket) prepare(from *source, batch []carrier.Out) (messages int) {
	o := &s.out
	s.class(from, batch[0].Route)
	src := netip.AddrPortFrom(s.local.Addr(), from.port)
	for datagrams := 0; messages < maxMessages && datagrams < len(batch); messages++ {
		first := batch[datagrams]
		if int(first.Route.TrafficClass) != from.tos || int(first.Route.HopLimit) != from.ttl || first.Route.From != batch[0].Route.From {
			break
		}
		run := s.run(batch[datagrams:])
		bytes := 0
		for i, d := range batch[datagrams : datagrams+run] {
			o.sum.Seal(packet.Flow{Src: src, Dst: d.Route.To}, d.Data, uint16(i))
			bytes += len(d.Data)
		}
		m := &o.msgs[messages]
		o.iovs[messages].Base = &first.Data[0]
		o.iovs[messages].SetLen(bytes)
		m.hdr.Namelen = s.name(&o.names[messages], first.Route)
		m.hdr.Control, m.hdr.Controllen = nil, 0
		if run > 1 {
			c := &o.cmsgs[messages]
			h := (*unix.Cmsghdr)(unsafe.Pointer(c))
			h.Level, h.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
			h.SetLen(unix.SizeofCmsghdr + 2)
			*(*uint16)(unsafe.Pointer(&c[unix.SizeofCmsghdr])) = uint16(len(first.Data))
			m.hdr.Control = &c[0]
			m.hdr.SetControllen(controlBytes)
		}
		o.runs[messages] = run
		datagrams += run
	}
	return messages
}

// run is how many datagrams can go as one message: for one peer, of one length but for the last, which may be
// shorter, and one behind the other in memory.
func (s *socket) run(batch []carrier.Out) int {
	if !s.segment {
		return 1
	}
	first := batch[0]
	bytes := len(first.Data)
	if bytes > s.bytes-48 { // the link's headers: a datagram must fit uncut
		return 1
	}
	n := 1
	for ; n < len(batch) && n < maxRun; n++ {
		prev, next := batch[n-1], batch[n]
		if len(prev.Data) != len(first.Data) || len(next.Data) > len(first.Data) || bytes+len(next.Data) > maxRunBytes ||
			*next.Route != *first.Route || unsafe.Add(unsafe.Pointer(&prev.Data[0]), len(prev.Data)) != unsafe.Pointer(&next.Data[0]) {
			break
		}
		bytes += len(next.Data)
	}
	return n
}

// name writes where a message goes, and returns how long that is.
func (s *socket) name(n *unix.RawSockaddrInet6, r *carrier.Route) uint32 {
	port := swapped(r.To.Port())
	if s.v4 {
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(n))
		*a = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: port, Addr: r.To.Addr().As4()}
		return unix.SizeofSockaddrInet4
	}
	*n = unix.RawSockaddrInet6{Family: unix.AF_INET6, Port: port, Addr: r.To.Addr().As16(), Scope_id: s.scope(r.To.Addr())}
	return unix.SizeofSockaddrInet6
}

// class sets the socket's traffic class and hop limit, if they are not what they were.
func (s *socket) class(x *source, r *carrier.Route) {
	tosName, ttlName, level := unix.IP_TOS, unix.IP_TTL, unix.IPPROTO_IP
	if !s.v4 {
		tosName, ttlName, level = unix.IPV6_TCLASS, unix.IPV6_UNICAST_HOPS, unix.IPPROTO_IPV6
	}
	if int(r.TrafficClass) != x.tos {
		x.tos = int(r.TrafficClass)
		_ = unix.SetsockoptInt(x.fd, level, tosName, x.tos)
	}
	if int(r.HopLimit) != x.ttl {
		x.ttl = int(r.HopLimit)
		_ = unix.SetsockoptInt(x.fd, level, ttlName, max(1, x.ttl))
	}
}

// sendmmsg sends messages and returns how many left, and why the next did not.
func (s *socket) sendmmsg(fd, n int) (int, unix.Errno) {
	r, _, e := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&s.out.msgs[0])), uintptr(n), 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(r), 0
}

// swapped is a port in the order of the network, and back.
func swapped(p uint16) uint16 {
	b := [2]byte{byte(p >> 8), byte(p)}
	return *(*uint16)(unsafe.Pointer(&b))
}
