package segment

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Heap is shared memory that stands in the Go heap: pages of a slice, with a memfd mapped over them. The slice is as any other, and lasts as
// long as anybody refers to it. Behind the memory, for peers, is a page of gates.
//
//	memfd:   | the memory, whole pages | gates, 64 bytes each |
//	                    |                        |
//	       mapped over a slice           mapped beside, until Close
type Heap struct {
	bytes []byte
	size  int // of the memfd
	fd    int
	gates gates
}

// gates are words, each in a line of its own.
type gates []byte

// gateBytes is what a gate takes.
const gateBytes = 64

func (g gates) at(i int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&g[i*gateBytes])) }

// wholePages is size rounded up.
func wholePages(size int) int {
	page := os.Getpagesize()
	return (size + page - 1) / page * page
}

// NewHeap makes zeroed memory of size bytes, at least 1, that begins at a page.
//
// Errors: ErrSpace; the system's.
func NewHeap(size int) (*Heap, error) {
	page := os.Getpagesize()
	if size <= 0 || size > math.MaxInt-3*page {
		return nil, fits(size, math.MaxInt, 0)
	}
	n := wholePages(size)
	fd, err := create(n+page, math.MaxInt)
	if err != nil {
		return nil, err
	}
	h := &Heap{size: n + page, fd: fd}
	if h.gates, err = unix.Mmap(fd, int64(n), page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		h.Close()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	raw := make([]byte, n+page)
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & uintptr(page-1))
	if err := overlay(&raw[skip], fd, n, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
		h.Close()
		return nil, err
	}
	h.bytes = raw[skip : skip+size : skip+size]
	putBack(&raw[0], skip, n)
	return h, nil
}

// putBack gives the collector private pages again before it uses the address for something else.
func putBack(object *byte, skip, n int) {
	runtime.SetFinalizer(object, func(object *byte) {
		at := (*byte)(unsafe.Add(unsafe.Pointer(object), skip))
		if overlay(at, -1, n, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS) != nil {
			putBack(object, skip, n) // peers may have these pages: they must not be anybody else's
		}
	})
}

// Bytes is the memory.
func (h *Heap) Bytes() []byte { return h.bytes }

// Size is that of the memfd, and FD its descriptor, to be passed; -1 after Close.
func (h *Heap) Size() int { return h.size }

// FD is the descriptor.
func (h *Heap) FD() int { return h.fd }

// Gates is how many there are, Gate the word of one. Nobody may touch it after Close.
func (h *Heap) Gates() int { return len(h.gates) / gateBytes }

// Gate is a gate's word.
func (h *Heap) Gate(i int) *atomic.Uint32 { return h.gates.at(i) }

// Close gives back all but the memory. Idempotent.
func (h *Heap) Close() {
	if h.fd >= 0 {
		unix.Close(h.fd)
		h.fd = -1
	}
	if h.gates != nil {
		_ = unix.Munmap(h.gates)
		h.gates = nil
	}
}

// Borrowed is memory of a peer's Heap, mapped here.
type Borrowed struct {
	bytes []byte
	gates gates
	gate  int
}

// populate is up to how much memory is mapped page by page at once: the rest when it is touched.
const populate = 16 << 20

// Borrow maps a Heap of a peer, whose memfd has size bytes, and takes the descriptor. The gate is the one with the given index.
//
// Errors: ErrMemory with what is wrong with it; the system's.
func Borrow(fd, size, gate int, write bool) (*Borrowed, error) {
	defer unix.Close(fd)
	page := os.Getpagesize()
	if size < 2*page || size%page != 0 || gate < 0 || gate >= page/gateBytes {
		return nil, fmt.Errorf("%w: %d bytes with gate %d", ErrMemory, size, gate)
	}
	if err := check(fd, size); err != nil {
		return nil, err
	}
	if err := backed(fd, size); err != nil {
		return nil, err
	}
	b := &Borrowed{gate: gate}
	prot, flags := unix.PROT_READ, unix.MAP_SHARED
	if write {
		prot |= unix.PROT_WRITE
	}
	if size <= populate {
		flags |= unix.MAP_POPULATE
	}
	var err error
	if b.gates, err = unix.Mmap(fd, int64(size-page), page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	if b.bytes, err = unix.Mmap(fd, 0, size-page, prot, flags); err != nil {
		b.Close()
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return b, nil
}

// backed looks whether all of the memory is there: else whoever touches it would find out.
func backed(fd, size int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%w: %w", ErrMemory, err)
	}
	if has := st.Blocks * 512; has < int64(size) {
		return fmt.Errorf("%w: of %d bytes %d are reserved", ErrMemory, size, has)
	}
	return nil
}

// Bytes is the memory, in whole pages.
func (b *Borrowed) Bytes() []byte { return b.bytes }

// Gate is the word of this borrower's gate.
func (b *Borrowed) Gate() *atomic.Uint32 { return b.gates.at(b.gate) }

// Close unmaps it. Idempotent.
func (b *Borrowed) Close() {
	for _, m := range []*[]byte{(*[]byte)(&b.gates), &b.bytes} {
		if *m != nil {
			_ = unix.Munmap(*m)
			*m = nil
		}
	}
}
