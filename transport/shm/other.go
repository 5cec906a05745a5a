//go:build !linux

package shm

import "github.com/openbraid/braid/transport"

// Open implements transport.Transport.
func (*shm) Open(transport.Env) (transport.Iface, error) {
	return nil, newError(Error{Op: "open", Err: ErrSystem})
}

// Prefix is what the host of addresses begins with that were made up on this host; "": there is no shared memory.
func Prefix() string { return "" }

// Usable tries what a connection needs of the system, and says what is missing.
func Usable() error { return newError(Error{Op: "open", Err: ErrSystem}) }

func hint(error) string { return "" }
