//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
)

// errnoOf is what functions of libibverbs return: an error number, of either sign.
func errnoOf(n C.int) error { return syscall.Errno(max(n, -n)) }

// wrap says what failed, as an error of the contract where there is one.
func wrap(err error, format string, args ...any) error {
	kind := error(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EPERM):
		kind = rdma.ErrInvalid
	case errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EAGAIN):
		kind = rdma.ErrLimit
	case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
		kind = rdma.ErrUnsupported
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ETIMEDOUT):
		kind = rdma.ErrUnreachable
	case errors.Is(err, syscall.EBUSY):
		kind = rdma.ErrBusy
	default:
		return fmt.Errorf("verbs: %s: %w", fmt.Sprintf(format, args...), err)
	}
	return fmt.Errorf("%w: %s: %w", kind, fmt.Sprintf(format, args...), err)
}

// noMemory says what limit a registration met, since the system says ENOMEM whatever it was.
func (d *device) noMemory(err error, bytes int) error {
	var lock unix.Rlimit
	if !errors.Is(err, syscall.ENOMEM) || unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lock) != nil || lock.Cur == unix.RLIM_INFINITY {
		return wrap(err, "registering %d bytes with %s", bytes, d.attr.Name)
	}
	return fmt.Errorf("%w: registering %d bytes with %s, which has %d bytes already: a process may lock %d bytes here, at least %d are needed: ulimit -l, or LimitMEMLOCK= of its service: %w",
		rdma.ErrLimit, bytes, d.attr.Name, d.locked, lock.Cur, d.locked+uint64(bytes), err)
}
