package tcp

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// Error is what goes wrong with a socket: what was tried, between whom, why, and what to do about it.
type Error struct {
	Op            string // dial, listen, accept, read, write, open
	Local, Remote string // "" if not known
	Kind          error  // a sentinel of package transport; nil if there is none for it
	Err           error  // the cause, mostly a syscall.Errno
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("tcp: " + e.Op)
	if e.Remote != "" {
		b.WriteString(" " + e.Remote)
	}
	if e.Local != "" {
		if e.Remote != "" {
			b.WriteString(" from")
		}
		b.WriteString(" " + e.Local)
	}
	if e.Kind != nil && !errors.Is(e.Err, e.Kind) {
		b.WriteString(": " + e.Kind.Error())
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if h := e.hint(); h != "" {
		b.WriteString(" (" + h + ")")
	}
	return b.String()
}

// Unwrap gives both the sentinel and the cause to errors.Is.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// hint is what to do about it.
func (e *Error) hint() string {
	switch {
	case errors.Is(e.Err, unix.EMFILE):
		return "this process has no descriptor left: raise its limit, ulimit -n"
	case errors.Is(e.Err, unix.ENFILE):
		return "the system has no descriptor left: raise fs.file-max"
	case errors.Is(e.Err, unix.EADDRINUSE) && e.Op == "listen":
		return "somebody listens there already: choose another port, or port 0"
	case errors.Is(e.Err, unix.EADDRNOTAVAIL) && e.Op == "listen":
		return "no interface has this address"
	case errors.Is(e.Err, unix.EADDRNOTAVAIL):
		return "no interface has the local address, or all its ports to this peer are in use: see net.ipv4.ip_local_port_range"
	case errors.Is(e.Err, unix.ECONNREFUSED):
		return "nobody listens there: start the peer first, or check the address"
	case errors.Is(e.Err, unix.ENETUNREACH):
		return "no route from the local address to there"
	case errors.Is(e.Err, unix.EHOSTUNREACH):
		return "nobody answers at that address, or a router says that there is no way to it: check the address, and that the peer is up"
	case errors.Is(e.Err, unix.EACCES):
		return "ports below 1024 need privileges"
	}
	return ""
}
