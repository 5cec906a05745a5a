package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const sockFlags = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC

// Raw calls: none of these can block, and the scheduler's bookkeeping costs as much as the call does.

// sysRead is recvfrom, not read: it knows that this is a socket, and saves a sixth of a call that finds nothing.
func sysRead(fd int, p []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	return int(n), e
}

// sysWritev is sendmsg, not writev, for MSG_NOSIGNAL: a library must not raise SIGPIPE. A single piece, which is what
// most writes are, goes without a message header for the system to fetch.
func sysWritev(fd int, m *unix.Msghdr) (int, unix.Errno) {
	if m.Iovlen == 1 {
		n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(m.Iov.Base)), uintptr(m.Iov.Len), unix.MSG_NOSIGNAL, 0, 0)
		return int(n), e
	}
	n, _, e := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(m)), unix.MSG_NOSIGNAL)
	return int(n), e
}

func sysSocket(family int) (int, error) {
	return unix.Socket(family, unix.SOCK_STREAM|sockFlags, unix.IPPROTO_TCP)
}

func sysAccept(fd int) (int, unix.Sockaddr, error) { return unix.Accept4(fd, sockFlags) }

// lateBind makes bind to port 0 leave the choice of the port to connect, which knows the peer: then
// only ports in use with this very peer are taken, and none that somebody listens on.
func lateBind(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) }

func sysCongestion(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// progress is what the system knows of a connection's way.
type progress struct {
	acked    uint64 // what the peer's system had, also behind a gap
	received uint64 // from it
	open     bool   // it did not have all
	moves    uint64 // times that it had more of what it lacked before, or had all and sent more
}

// look says how far it is. Once the peer's system has all, the next thing that it takes, such as a probe, says nothing more of what went
// before: somebody between the two, a proxy that hangs, takes everything for ever, and nobody reads it. What the peer's system sends
// is a sign when it has all: then an answer stands behind that. While it lacks something it is none: the way there may be dead.
func (p *progress) look(fd int) uint64 {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	acked := info.Bytes_acked + uint64(info.Delivered)
	open := info.Unacked > 0 || info.Notsent_bytes > 0
	if p.open && acked != p.acked || !open && info.Bytes_received != p.received {
		p.moves++
	}
	p.acked, p.received, p.open = acked, info.Bytes_received, open
	return p.moves + 1
}

// sysReset disconnects: connecting to nothing sends a reset and leaves the descriptor open.
func sysReset(fd int) error {
	none := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	_, _, e := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(none))
	if e != 0 {
		return e
	}
	return nil
}
