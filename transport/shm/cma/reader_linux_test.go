package cma_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/cma"
)

func reader(t *testing.T) (*cma.Reader, *cma.Mark) {
	t.Helper()
	m, r := cma.NewMark(rand.Uint64), &cma.Reader{}
	if err := r.Open(os.Getpid(), *m); err != nil {
		t.Fatal(err)
	}
	return r, m
}

// TestRead: what stands at an address is read whole, of any size, without an allocation.
func TestRead(t *testing.T) {
	r, _ := reader(t)
	for _, n := range []int{0, 1, 4095, 4096, 4097, 1 << 20, 5<<20 + 3} {
		src, dst := make([]byte, n), make([]byte, n)
		for i := range src {
			src[i] = byte(rand.Uint32())
		}
		if err := r.Read(dst, cma.Address(src)); err != nil || !bytes.Equal(src, dst) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	src, dst := make([]byte, 100), make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { _ = r.Read(dst, cma.Address(src)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestWhose: nothing is read from a process without the mark at its place: not the one with the same number, not another program, not a dead one.
func TestWhose(t *testing.T) {
	r, m := reader(t)
	src, dst := make([]byte, 100), make([]byte, 100)
	m.Bytes[3]++ // as if something else stood there
	if err := r.Read(dst, cma.Address(src)); !errors.Is(err, cma.ErrOther) {
		t.Errorf("another mark: %v", err)
	}
	if m.Bytes[3]--; r.Read(dst, cma.Address(src)) != nil {
		t.Error("the mark is back")
	}
	var s cma.Reader
	if err := s.Open(0, *m); !errors.Is(err, cma.ErrHidden) || s.Ready() {
		t.Errorf("no number: %v", err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Skip(err)
	}
	if err := s.Open(dead.Process.Pid, *m); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a dead process: %v", err)
	}
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	if err := s.Open(other.Process.Pid, *m); err == nil || s.Ready() {
		t.Errorf("another program: %v", err)
	}
}

// TestNotThere: memory that isn't there is an error, also if it begins well.
func TestNotThere(t *testing.T) {
	r, _ := reader(t)
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Mprotect(mem[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for _, at := range []uint64{1, 1 << 63, ^uint64(0), cma.Address(mem)} {
		if err := r.Read(make([]byte, 2*page), at); !errors.Is(err, unix.EFAULT) && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOVERFLOW) {
			t.Errorf("at %#x: %v", at, err)
		}
	}
}
