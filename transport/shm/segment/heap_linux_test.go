package segment_test

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/segment"
)

// borrowed is h, mapped once more as a peer would.
func borrowed(t *testing.T, h *segment.Heap, gate int, write bool) *segment.Borrowed {
	t.Helper()
	fd, err := unix.FcntlInt(uintptr(h.FD()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := segment.Borrow(fd, h.Size(), gate, write)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestHeap: what one side writes the other sees, in the memory and in the gates, whatever the size.
func TestHeap(t *testing.T) {
	fds(t)
	for _, size := range []int{1, 8, 4095, 4096, 4097, 12000, 1 << 20, 5<<20 + 7} {
		h, err := segment.NewHeap(size)
		if err != nil {
			t.Fatal(err)
		}
		mem := h.Bytes()
		if len(mem) != size || cap(mem) != size || !bytes.Equal(mem, make([]byte, size)) {
			t.Fatalf("%d bytes: %d, %d, not all zero", size, len(mem), cap(mem))
		}
		b := borrowed(t, h, h.Gates()-1, true)
		b.Bytes()[0], b.Bytes()[size-1] = 1, 2
		if size > 1 && mem[0] != 1 || mem[size-1] != 2 {
			t.Errorf("%d bytes: the owner does not see what the borrower writes", size)
		}
		mem[size/2] = 3
		if b.Bytes()[size/2] != 3 {
			t.Errorf("%d bytes: the borrower does not see what the owner writes", size)
		}
		h.Gate(h.Gates() - 1).Store(7)
		if b.Gate().Load() != 7 || h.Gate(0).Load() != 0 {
			t.Errorf("%d bytes: the gates are not shared", size)
		}
		h.Close()
		h.Close()
		mem[0] = 9 // the memory stays
		if b.Bytes()[0] != 9 {
			t.Errorf("%d bytes: not the same memory after Close", size)
		}
		b.Close()
		b.Close()
	}
	if _, err := segment.NewHeap(0); !errors.Is(err, segment.ErrSpace) {
		t.Errorf("no bytes: %v", err)
	}
	if _, err := segment.NewHeap(1 << 60); !errors.Is(err, segment.ErrSpace) {
		t.Errorf("too many: %v", err)
	}
}

// TestPagesComeBack: when the collector uses the address again, it is not a peer's memory.
func TestPagesComeBack(t *testing.T) {
	const size = 1 << 20
	var peers []*segment.Borrowed
	for range 8 {
		h, err := segment.NewHeap(size)
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, borrowed(t, h, 0, true))
		h.Bytes()[0] = 1
		h.Close()
	}
	var all [][]byte
	for range 50 {
		runtime.GC()
		time.Sleep(2 * time.Millisecond) // finalizers have a goroutine of their own
		for range 8 {
			all = append(all, make([]byte, size+os.Getpagesize()))
		}
	}
	for _, p := range peers {
		for i := range p.Bytes() {
			p.Bytes()[i] = 0xee
		}
		defer p.Close()
	}
	for i, b := range all {
		if bytes.IndexByte(b, 0xee) >= 0 || bytes.IndexByte(b, 1) >= 0 {
			t.Fatalf("slice %d of %d has what a peer wrote", i, len(all))
		}
	}
}

// TestBorrowGarbage: what a peer passes is looked at before it is touched.
func TestBorrowGarbage(t *testing.T) {
	fds(t)
	page := os.Getpagesize()
	memfd := func(size int, seals int, reserve bool) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Ftruncate(fd, int64(size))
		if reserve {
			_ = unix.Fallocate(fd, 0, 0, int64(size))
		}
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		return fd
	}
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ fd, size, gate int }{
		"no memory":          {null, 2 * page, 0},
		"not sealed":         {memfd(2*page, unix.F_SEAL_GROW, true), 2 * page, 0},
		"shorter than said":  {memfd(2*page, all, true), 3 * page, 0},
		"not reserved":       {memfd(4*page, all, false), 4 * page, 0},
		"half of a page":     {memfd(2*page+7, all, true), 2*page + 7, 0},
		"nothing but gates":  {memfd(page, all, true), page, 0},
		"a gate that is not": {memfd(2*page, all, true), 2 * page, page / 64},
		"a gate below":       {memfd(2*page, all, true), 2 * page, -1},
		"no size":            {memfd(2*page, all, true), -1, 0},
	} {
		if _, err := segment.Borrow(c.fd, c.size, c.gate, true); !errors.Is(err, segment.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
