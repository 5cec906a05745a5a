package shm

import (
	"errors"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/budget"
	"github.com/openbraid/braid/transport/shm/greeting"
)

// Error is what goes wrong here.
type Error = transport.Error

// newError fills in whose error it is, and what to do about it.
func newError(e Error) *Error {
	e.Transport, e.Hint = "shm", hint(e.Err)
	return &e
}

var (
	// ErrSystem: this system has no shared memory of the kind that is needed.
	ErrSystem = errors.New("shared memory is built for Linux only")
	// ErrUser: the process at the other end belongs to somebody else.
	ErrUser = greeting.ErrUser
	// ErrVersion: the process at the other end is of another version.
	ErrVersion = greeting.ErrVersion
	// ErrLimit: the node, or the peer with it, has as much shared memory as it may have.
	ErrLimit = budget.ErrLimit
	// ErrAddress: an address that is not of this transport.
	ErrAddress = errors.New("not an address of this transport")
	// ErrRefused: the peer did not take the connection.
	ErrRefused = greeting.ErrRefused
)
