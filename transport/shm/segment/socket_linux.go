package segment

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrName: a name that no socket can have.
var ErrName = errors.New("the name is empty or too long")

// prefix keeps the names apart from those of others.
const prefix = "@braid/"

const mostName = 107 - len(prefix)

// Listen binds a socket to a name of this host (its network namespace), in no directory: it is gone with the socket.
//
// Errors: unix.EADDRINUSE; ErrName.
func Listen(name string, backlog int) (fd int, err error) {
	if name == "" || len(name) > mostName {
		return -1, ErrName
	}
	if fd, err = socket(); err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrUnix{Name: prefix + name}); err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Dial connects to a name.
//
// Errors: unix.ECONNREFUSED: nobody listens; unix.EAGAIN: too many wait to be accepted; ErrName.
func Dial(name string) (fd int, err error) {
	if name == "" || len(name) > mostName {
		return -1, ErrName
	}
	if fd, err = socket(); err != nil {
		return -1, err
	}
	if err = unix.Connect(fd, &unix.SockaddrUnix{Name: prefix + name}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func socket() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	return fd, nil
}

// Accept takes a connection.
//
// Errors: unix.EAGAIN: there is none.
func Accept(fd int) (int, error) {
	c, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	return c, err
}

// Peer is who made the other end of a connection, as the system says it: of who listens, whoever called Listen.
func Peer(fd int) (pid, uid int, err error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, 0, err
	}
	return int(c.Pid), int(c.Uid), nil
}

// Send sends one message, and a descriptor with it if that is not -1.
//
// Errors: unix.EAGAIN: the peer does not read.
func Send(fd int, msg []byte, pass int) error {
	var rights []byte
	if pass >= 0 {
		rights = unix.UnixRights(pass)
	}
	return unix.Sendmsg(fd, msg, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
}

// Receive takes one message, and a descriptor if one came with it, else -1. What is longer than buf, or brings more descriptors than one, is
// cut, and the rest closed: truncated.
//
// Errors: unix.EAGAIN: nothing is there.
func Receive(fd int, buf []byte) (n, passed int, truncated bool, err error) {
	oob := make([]byte, unix.CmsgSpace(2*4))
	n, on, flags, _, err := unix.Recvmsg(fd, buf, oob, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil {
		return 0, -1, false, err
	}
	passed = -1
	truncated = flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0
	all, err := unix.ParseSocketControlMessage(oob[:on])
	if err != nil {
		return n, -1, true, nil
	}
	for i := range all {
		fds, err := unix.ParseUnixRights(&all[i])
		if err != nil {
			continue
		}
		for _, f := range fds {
			if passed < 0 {
				passed = f
				continue
			}
			unix.Close(f)
			truncated = true
		}
	}
	return n, passed, truncated, nil
}

// Ring wakes the peer: one byte. A socket that is full is one that he has not looked at yet.
func Ring(fd int) { _ = unix.Sendto(fd, bell, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, nil) }

var bell = []byte{1}

// Drain takes all bells. gone: the peer has ended the connection, or died.
func Drain(fd int) (gone bool) {
	var b [8]byte
	for {
		n, err := unix.Read(fd, b[:]) // the socket never waits
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return false
		case err != nil || n == 0:
			return true
		}
	}
}

// Ended says whether the peer has ended the connection, or died; bells stay where they are.
func Ended(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return n > 0 && err == nil && p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// BootID names this host since it was started, the same in all of its containers; "": nobody can tell.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
