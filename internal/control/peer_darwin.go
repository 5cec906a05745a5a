package control

import "golang.org/x/sys/unix"

// userOf is the user at the other end of a socket, -1 with an error.
func userOf(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
