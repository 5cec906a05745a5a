package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma/soft/carrier"
)

const recvMessages = 16

// receiver is the memory of a call of recvmmsg, and how far it is handed out.
type receiver struct {
	msgs  [recvMessages]message
	iovs  [recvMessages]unix.Iovec
	names [recvMessages]unix.RawSockaddrInet6
	cmsgs [recvMessages][controlBytes + 8]byte
	bufs  [recvMessages][]byte
	n     int // messages that are there
	at    int // the one that is being handed out
	off   int // bytes of it that are
}

func (r *receiver) open() {
	for i := range r.msgs {
		r.bufs[i] = make([]byte, 1<<16)
		r.iovs[i].Base = &r.bufs[i][0]
		r.iovs[i].SetLen(len(r.bufs[i]))
		h := &r.msgs[i].hdr
		h.Name = (*byte)(unsafe.Pointer(&r.names[i]))
		h.Iov = &r.iovs[i]
		h.SetIovlen(1)
		h.Control = &r.cmsgs[i][0]
	}
}

func (r *receiver) waiting() bool { return r.at < r.n }

// Recv implements carrier.Carrier.
func (s *socket) Recv(batch []carrier.In) int {
	r := &s.in
	if !r.waiting() && !s.recvmmsg() {
		return 0
	}
	n := 0
	for n < len(batch) && r.waiting() {
		m := &r.msgs[r.at]
		size := r.size(r.at)
		from := s.from(&r.names[r.at])
		for n < len(batch) && r.off < int(m.len) {
			end := min(r.off+size, int(m.len))
			batch[n] = carrier.In{From: from, Data: r.bufs[r.at][r.off:end:end], ID: uint16(r.off / size)}
			r.off = end
			n++
		}
		if r.off >= int(m.len) {
			r.at, r.off = r.at+1, 0
		}
	}
	return n
}

// recvmmsg takes what the socket has.
func (s *socket) recvmmsg() bool {
	r := &s.in
	for i := range r.msgs {
		h := &r.msgs[i].hdr
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(len(r.cmsgs[i]))
		h.Flags = 0
	}
	n, _, e := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&r.msgs[0])), recvMessages, 0, 0, 0)
	r.n, r.at, r.off = 0, 0, 0
	if e != 0 {
		return false
	}
	r.n = int(n)
	return true
}

// size is how long each datagram of a message is.
func (r *receiver) size(i int) int {
	m := &r.msgs[i]
	if m.hdr.Controllen >= unix.SizeofCmsghdr+4 {
		c := (*unix.Cmsghdr)(unsafe.Pointer(&r.cmsgs[i]))
		if c.Level == unix.IPPROTO_UDP && c.Type == unix.UDP_GRO {
			if n := int(*(*int32)(unsafe.Pointer(&r.cmsgs[i][unix.SizeofCmsghdr]))); n > 0 {
				return n
			}
		}
	}
	return max(1, int(m.len))
}

// from is the sender of a message.
func (s *socket) from(n *unix.RawSockaddrInet6) netip.AddrPort {
	if s.v4 {
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(n))
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), swapped(a.Port))
	}
	return netip.AddrPortFrom(netip.AddrFrom16(n.Addr), swapped(n.Port))
}
