package tcp

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// listenSocket binds and listens.
func listenSocket(addr netip.AddrPort, o *Options) (int, error) {
	family, sa, err := sockaddr(addr)
	if err != nil {
		return -1, err
	}
	fd, err := sysSocket(family)
	if err != nil {
		return -1, err
	}
	if family == unix.AF_INET6 {
		only := 1
		if addr.Addr().IsUnspecified() {
			only = 0 // [::] means everybody
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, only)
	}
	// without it a listener can't come back while old connections of its port fade away
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	o.buffers(fd) // accepted sockets inherit them
	if err = unix.Bind(fd, sa); err == nil {
		err = unix.Listen(fd, o.Backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// dialSocket starts a connection. With an error and a descriptor the connection can't be: the caller tells it
// later; with an error alone there isn't even a socket.
func dialSocket(local netip.Addr, remote netip.AddrPort, o *Options) (fd int, err error) {
	family, sa, err := sockaddr(remote)
	if err != nil {
		return -1, err
	}
	if fd, err = sysSocket(family); err != nil {
		return -1, err
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	o.buffers(fd)
	if local.IsValid() {
		_, from, err := sockaddr(netip.AddrPortFrom(local, 0))
		if err != nil {
			return fd, err
		}
		lateBind(fd)
		if err := unix.Bind(fd, from); err != nil {
			return fd, err
		}
	}
	if err = unix.Connect(fd, sa); err == unix.EINPROGRESS || err == unix.EINTR {
		err = nil
	}
	return fd, err
}

// buffers sets the sizes that were asked for; the system's own grow by themselves and are mostly better.
func (o *Options) buffers(fd int) {
	if o.SendBuffer > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, o.SendBuffer)
	}
	if o.ReceiveBuffer > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, o.ReceiveBuffer)
	}
}
