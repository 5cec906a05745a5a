package segment

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	// ErrSpace: the system has not so much memory to share.
	ErrSpace = errors.New("no room for shared memory")
	// ErrMemory: what a peer passed is not memory that can be shared safely.
	ErrMemory = errors.New("not memory that can be shared")
)

// Segment is shared memory, mapped here.
type Segment struct {
	fd  int // to be passed on; -1: not any more
	mem []byte
}

// seals keep anybody from changing the size, and from changing that.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// Create makes memory of size bytes, all zero.
//
// Errors: ErrSpace with size and reason; the system's.
func Create(size int) (*Segment, error) {
	fd, err := create(size, Most)
	if err != nil {
		return nil, err
	}
	return mapped(fd, size)
}

// create makes a memfd whose size nobody changes, with its space reserved.
func create(size, most int) (fd int, err error) {
	if size <= 0 || size > most {
		return -1, fits(size, most, 0)
	}
	fd, err = unix.MemfdCreate("braid", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // Linux before 6.3
		fd, err = unix.MemfdCreate("braid", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	if err = unix.Ftruncate(fd, int64(size)); err != nil {
		err = spaceError(size, err)
	} else if err = reserve(fd, size, most); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Attach maps memory that a peer passed, which is Closed with the Segment.
//
// Errors: ErrMemory with what is wrong with it; ErrSpace; the system's.
func Attach(fd, size int) (*Segment, error) {
	if err := check(fd, size); err != nil {
		unix.Close(fd)
		return nil, err
	}
	if err := reserve(fd, size, Most); err != nil { // whoever made it may have left that out
		unix.Close(fd)
		return nil, err
	}
	return mapped(fd, size)
}

// check asks the system what a descriptor is.
func check(fd, size int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	has, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG || fs.Type != unix.TMPFS_MAGIC || err != nil:
		return fmt.Errorf("%w: the peer passed something else", ErrMemory)
	case has&seals != seals:
		return fmt.Errorf("%w: its size can be changed (seals %#x)", ErrMemory, has)
	case has&(unix.F_SEAL_WRITE|unix.F_SEAL_FUTURE_WRITE) != 0:
		return fmt.Errorf("%w: it is sealed against writing", ErrMemory)
	case st.Size != int64(size):
		return fmt.Errorf("%w: it has %d bytes, agreed are %d", ErrMemory, st.Size, size)
	}
	return nil
}

// Most is the largest segment, in bytes.
const Most = 1 << 30

// reserve has the system set the space aside: else its lack would be found by whoever touches a page. What is asked for must be there:
// a system that runs out of memory in the middle kills processes, and not only this one.
func reserve(fd, size, most int) error {
	free, err := available()
	if err == nil {
		err = fits(size, most, free)
	}
	if err != nil {
		return err
	}
	for {
		switch err := unix.Fallocate(fd, 0, 0, int64(size)); err {
		case nil:
			return nil
		case unix.EINTR:
		default:
			return spaceError(size, err)
		}
	}
}

// available is the memory that can be had without taking it from anybody.
func available() (uint64, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("%w: nobody can tell how much there is: %w", ErrSpace, err)
	}
	for line := range strings.Lines(string(b)) {
		var n uint64
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &n); err == nil {
			return n << 10, nil
		}
	}
	return 0, fmt.Errorf("%w: nobody can tell how much there is: /proc/meminfo has no MemAvailable", ErrSpace)
}

// fits says why a segment can't be made where so much memory is free: half of it stays.
func fits(size, most int, free uint64) error {
	switch {
	case size <= 0 || size > most:
		return fmt.Errorf("%w: %d bytes, a segment has from 1 to %d", ErrSpace, size, most)
	case uint64(size) > free/2:
		return fmt.Errorf("%w: %d bytes, of memory %d are free, and half of that is left to others", ErrSpace, size, free)
	}
	return nil
}

func spaceError(size int, err error) error {
	return fmt.Errorf("%w: %d bytes: %w", ErrSpace, size, err)
}

func mapped(fd, size int) (*Segment, error) {
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		unix.Close(fd)
		return nil, spaceError(size, fmt.Errorf("mmap: %w", err))
	}
	return &Segment{fd: fd, mem: mem}, nil
}

// Bytes are the memory. Nobody may touch them after Close.
func (s *Segment) Bytes() []byte { return s.mem }

// FD is the descriptor to be passed, -1 after Forget.
func (s *Segment) FD() int { return s.fd }

// Forget closes the descriptor: the mapping stays.
func (s *Segment) Forget() {
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
}

// Close unmaps the memory. Idempotent.
func (s *Segment) Close() {
	s.Forget()
	if s.mem != nil {
		_ = unix.Munmap(s.mem)
		s.mem = nil
	}
}
