package tcp

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

// Error is what goes wrong with a socket. Its cause is mostly a syscall.Errno.
type Error = transport.Error

// newError fills in whose error it is, and what to do about it.
func newError(e Error) *Error {
	e.Transport, e.Hint = "tcp", hint(e.Op, e.Err)
	return &e
}

// hint is what to do about it.
func hint(op string, err error) string {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "this process has no descriptor left: raise its limit, ulimit -n"
	case errors.Is(err, unix.ENFILE):
		return "the system has no descriptor left: raise fs.file-max"
	case errors.Is(err, unix.EADDRINUSE) && op == "listen":
		return "somebody listens there already: choose another port, or port 0"
	case errors.Is(err, unix.EADDRNOTAVAIL) && op == "listen":
		return "no interface has this address"
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return "no interface has the local address, or all its ports to this peer are in use: see net.ipv4.ip_local_port_range"
	case errors.Is(err, unix.ECONNREFUSED):
		return "nobody listens there: start the peer first, or check the address"
	case errors.Is(err, unix.ENETUNREACH):
		return "no route from the local address to there"
	case errors.Is(err, unix.EHOSTUNREACH):
		return "nobody answers at that address, or a router says that there is no way to it: check the address, and that the peer is up"
	case errors.Is(err, unix.EACCES):
		return "ports below 1024 need privileges"
	}
	return ""
}
