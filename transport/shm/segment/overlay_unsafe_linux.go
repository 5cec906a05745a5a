//go:build amd64 || arm64

package segment

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overlay maps fd, or private pages, over n bytes. Not by unix.MmapPtr: it makes a pointer of what the system returns, which checkptr takes for
// arithmetic.
func overlay(at *byte, fd, n, flags int) error {
	_, _, e := unix.Syscall6(unix.SYS_MMAP, uintptr(unsafe.Pointer(at)), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, uintptr(unix.MAP_FIXED|flags), uintptr(fd), 0)
	if e != 0 {
		return fmt.Errorf("mmap over the heap: %w", e)
	}
	return nil
}
