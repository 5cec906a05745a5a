package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func sysRead(fd int, p []byte) (int, unix.Errno) {
	n, err := unix.Read(fd, p)
	return n, errnoOf(err)
}

// sysWritev writes the pieces one by one: the system's vector call isn't in x/sys for this system.
// SIGPIPE is off by a socket option.
func sysWritev(fd int, m *unix.Msghdr) (int, unix.Errno) {
	total := 0
	for _, v := range pieces(m) {
		n, err := unix.Write(fd, v)
		if err != nil && total == 0 {
			return 0, errnoOf(err)
		}
		total += max(n, 0)
		if n < len(v) {
			break
		}
	}
	return total, 0
}

func errnoOf(err error) unix.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EIO
}

func sysSocket(family int) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, unix.IPPROTO_TCP)
	if err != nil {
		return -1, err
	}
	return prepared(fd)
}

func sysAccept(fd int) (int, unix.Sockaddr, error) {
	n, sa, err := unix.Accept(fd)
	if err != nil {
		return -1, nil, err
	}
	n, err = prepared(n)
	return n, sa, err
}

// prepared makes a descriptor what Linux gives in one call.
func prepared(fd int) (int, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	noSignal(fd)
	return fd, nil
}

// lateBind: there is no such option here; bind chooses the port.
func lateBind(int) {}

// sysReset: there is no way to send a reset and keep the descriptor. Both directions end now, and the
// reset follows with Close.
func sysReset(fd int) error {
	if err := unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}); err != nil {
		return err
	}
	return unix.Shutdown(fd, unix.SHUT_RDWR)
}
func noSignal(fd int) { _ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_NOSIGPIPE, 1) }

// pieces are the slices of a vector.
func pieces(m *unix.Msghdr) [][]byte {
	out := make([][]byte, 0, maxPieces)
	for _, v := range unsafe.Slice(m.Iov, int(m.Iovlen)) {
		out = append(out, unsafe.Slice(v.Base, int(v.Len)))
	}
	return out
}

func sysCongestion(int, string) error { return unix.ENOTSUP }

// progress: nothing here tells it.
type progress struct{}

func (progress) look(int) uint64 { return 0 }
