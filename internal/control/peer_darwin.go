package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf is the user at the other end.
func peerOf(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var cred *unix.Xucred
	var bad error
	if err := raw.Control(func(fd uintptr) { cred, bad = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) }); err != nil {
		return -1, err
	}
	if bad != nil {
		return -1, bad
	}
	return int(cred.Uid), nil
}
