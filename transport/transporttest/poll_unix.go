//go:build unix

package transporttest

import "golang.org/x/sys/unix"

const canPoll = true

// readable says whether fd polls readable within the time.
func readable(fd int, timeoutMS int) bool {
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, timeoutMS)
		if err != unix.EINTR {
			return err == nil && n == 1
		}
	}
}
