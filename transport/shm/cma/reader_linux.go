package cma

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

var (
	// ErrHidden: the peer's process can't be seen from here.
	ErrHidden = errors.New("the peer is in a PID namespace that is not seen from here")
	// ErrOther: who has that number now is not the peer, or not any more.
	ErrOther = errors.New("the process that was read is not the peer")
	// ErrFiltered: system calls of this process are filtered, and a filter may end who makes one that it does not know.
	ErrFiltered = errors.New("system calls of this process are filtered (seccomp)")
)

// Reader reads memory of one peer. The zero value reads nothing.
type Reader struct {
	pid    int
	mark   Mark
	seen   [MarkLen]byte
	local  [2]unix.Iovec
	remote [2]unix.RemoteIovec
}

// Filtered says whether a probe could be punished.
func Filtered() error {
	b, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return fmt.Errorf("nobody can tell whether system calls are filtered: %w", err)
	}
	if !bytes.Contains(b, []byte("\nSeccomp:\t0\n")) {
		return ErrFiltered
	}
	return nil
}

// Open tries whether the process may be read, and is the one with the mark.
//
// Errors: ErrHidden, ErrOther; the system's, such as unix.EPERM.
func (r *Reader) Open(pid int, m Mark) error {
	if pid <= 0 {
		return ErrHidden
	}
	r.pid, r.mark = pid, m
	if err := r.Read(nil, 0); err != nil {
		r.pid = 0
		return err
	}
	return nil
}

// Ready says whether Open has succeeded.
func (r *Reader) Ready() bool { return r.pid != 0 }

// Read fills dst from an address of the peer. The mark is read in the same call, so from the same address space: whoever got the process's number meanwhile, and
// whatever program it runs now, has no such bytes there. After an error dst may be filled partly.
//
// Errors: ErrOther; the system's: unix.EPERM, unix.ESRCH, unix.EFAULT.
// Source: uct_cma_ep_tx.
func (r *Reader) Read(dst []byte, addr uint64) (err error) {
	if r.pid == 0 {
		return ErrHidden
	}
	for first := true; first || len(dst) > 0; first = false {
		n, err := r.call(dst, addr)
		if err != nil {
			return fmt.Errorf("process_vm_readv: %w", err)
		}
		if n < MarkLen || r.seen != r.mark.Bytes {
			return ErrOther
		}
		if n -= MarkLen; n == 0 && len(dst) > 0 {
			return fmt.Errorf("process_vm_readv: %w", unix.EFAULT) // the mark is there, what follows is not
		}
		dst, addr = dst[n:], addr+uint64(n)
	}
	return nil
}

func (r *Reader) call(dst []byte, addr uint64) (int, error) {
	vectors := 1
	r.seen = [MarkLen]byte{}
	r.local[0].Base = &r.seen[0]
	r.local[0].SetLen(MarkLen)
	r.remote[0] = unix.RemoteIovec{Base: uintptr(r.mark.Addr), Len: MarkLen}
	if len(dst) > 0 {
		vectors = 2
		r.local[1].Base = &dst[0]
		r.local[1].SetLen(len(dst))
		r.remote[1] = unix.RemoteIovec{Base: uintptr(addr), Len: len(dst)}
	}
	n, err := unix.ProcessVMReadv(r.pid, r.local[:vectors], r.remote[:vectors], 0)
	r.local = [2]unix.Iovec{} // no reference stays behind
	return n, err
}
