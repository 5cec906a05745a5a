package shm

import (
	"errors"

	"github.com/openbraid/braid/transport"
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
