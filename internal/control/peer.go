package control

import "net"

// peerOf is the user at the other end.
func peerOf(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var bad error
	if err := raw.Control(func(fd uintptr) { uid, bad = userOf(int(fd)) }); err != nil {
		return -1, err
	}
	return uid, bad
}
