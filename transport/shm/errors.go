package shm

import (
	"errors"
	"strings"
)

// Error is what goes wrong here: what was tried, between whom, why, and what to do about it.
type Error struct {
	Op            string // open, listen, dial, accept, connection
	Local, Remote string // "" if not known
	Kind          error  // a sentinel of package transport; nil if there is none for it
	Err           error  // the cause
}

var (
	// ErrSystem: this system has no shared memory of the kind that is needed.
	ErrSystem = errors.New("shared memory is built for Linux only")
	// ErrUser: the process at the other end belongs to somebody else.
	ErrUser = errors.New("the peer is another user's process")
	// ErrVersion: the process at the other end is of another version.
	ErrVersion = errors.New("the peer's shared memory is of another version")
	// ErrLimit: the worker has as much shared memory as it may have.
	ErrLimit = errors.New("the limit of shared memory is reached")
	// ErrAddress: an address that is not of this transport.
	ErrAddress = errors.New("not an address of this transport")
	// ErrRefused: the peer did not take the connection.
	ErrRefused = errors.New("the peer refuses")
)

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("shm: " + e.Op)
	for _, s := range []string{e.Remote, e.Local} {
		if s != "" {
			b.WriteString(" " + s)
		}
		if s == e.Remote && e.Remote != "" && e.Local != "" {
			b.WriteString(" from")
		}
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
