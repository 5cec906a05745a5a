package echo

import (
	"errors"
	"io"
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bareSocket polls a socket.
type bareSocket struct {
	fd   int
	keep *net.TCPConn
}

// Polled takes the descriptor from under a connection, which must not be used meanwhile.
func Polled(c *net.TCPConn) (io.ReadWriter, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &bareSocket{keep: c}
	err = raw.Control(func(fd uintptr) { s.fd = int(fd) })
	return s, err
}

func (s *bareSocket) Read(p []byte) (int, error) {
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case e == unix.EAGAIN:
		case e != 0:
			return 0, e
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

func (s *bareSocket) Write(p []byte) (n int, err error) {
	for n < len(p) {
		sent, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(&p[n])), uintptr(len(p)-n), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case e == unix.EAGAIN:
		case e != 0:
			return n, e
		default:
			n += int(sent)
		}
	}
	return n, nil
}

// Congest sets the congestion control of a connection.
func Congest(c *net.TCPConn, name string) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) { set = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name) })
	return errors.Join(err, set)
}
