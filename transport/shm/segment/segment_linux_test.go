package segment_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport/shm/segment"
)

const size = 128 << 10

// fds counts the descriptors of this process: whatever a test does, none stays.
func fds(t *testing.T) {
	t.Helper()
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	before := count()
	t.Cleanup(func() {
		if n := count(); n != before {
			t.Errorf("%d descriptors, %d before", n, before)
		}
	})
}

// connected is both ends of a connection.
func connected(t *testing.T) (dialed, accepted int) {
	t.Helper()
	name := fmt.Sprintf("test-%d-%s", os.Getpid(), t.Name())
	l, err := segment.Listen(name, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(l)
	if _, err := segment.Listen(name, 4); err != unix.EADDRINUSE {
		t.Errorf("a second listener: %v", err)
	}
	if _, err := segment.Accept(l); err != unix.EAGAIN {
		t.Errorf("Accept with nobody there: %v", err)
	}
	if dialed, err = segment.Dial(name); err != nil {
		t.Fatal(err)
	}
	if accepted, err = segment.Accept(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(dialed); unix.Close(accepted) })
	return dialed, accepted
}

func TestShared(t *testing.T) {
	fds(t)
	a, b := connected(t)
	for _, fd := range []int{a, b} {
		if pid, uid, err := segment.Peer(fd); err != nil || pid != os.Getpid() || uid != os.Geteuid() {
			t.Errorf("the peer is process %d of user %d, %v", pid, uid, err)
		}
	}
	mine, err := segment.Create(size)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	if err := segment.Send(a, []byte("take this"), mine.FD()); err != nil {
		t.Fatal(err)
	}
	mine.Forget()
	buf := make([]byte, 64)
	n, fd, cut, err := segment.Receive(b, buf)
	if err != nil || string(buf[:n]) != "take this" || fd < 0 || cut {
		t.Fatalf("received %q, descriptor %d, %v, %v", buf[:n], fd, cut, err)
	}
	theirs, err := segment.Attach(fd, size)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if len(theirs.Bytes()) != size || len(mine.Bytes()) != size {
		t.Fatalf("%d and %d bytes", len(theirs.Bytes()), len(mine.Bytes()))
	}
	mine.Bytes()[size-1] = 7
	if theirs.Bytes()[size-1] != 7 {
		t.Error("it is not the same memory")
	}
	if err := unix.Ftruncate(theirs.FD(), 4096); err == nil {
		t.Error("a peer can take the memory away")
	}
	if err := unix.Ftruncate(theirs.FD(), 2*size); err == nil {
		t.Error("a peer can change its size")
	}
}

// TestAttach: what is not memory that can be shared safely is refused, each with its reason, and closed.
func TestAttach(t *testing.T) {
	fds(t)
	memfd := func(flags int, n int64, seals int) int {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|flags)
		if err == nil {
			err = unix.Ftruncate(fd, n)
		}
		if err == nil && seals != 0 {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	regular, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	all := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	for _, c := range []struct {
		what string
		fd   int
		want string
	}{
		{"a file", regular, "something else"},
		{"a pipe", pipe[0], "something else"},
		{"no seals", memfd(unix.MFD_ALLOW_SEALING, size, 0), "size can be changed"},
		{"none allowed", memfd(0, size, 0), "size can be changed"},
		{"it can shrink", memfd(unix.MFD_ALLOW_SEALING, size, unix.F_SEAL_GROW|unix.F_SEAL_SEAL), "size can be changed"},
		{"more seals can come", memfd(unix.MFD_ALLOW_SEALING, size, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW), "size can be changed"},
		{"too short", memfd(unix.MFD_ALLOW_SEALING, size-4096, all), "agreed are"},
		{"too long", memfd(unix.MFD_ALLOW_SEALING, size+1, all), "agreed are"},
		{"read only", memfd(unix.MFD_ALLOW_SEALING, size, all|unix.F_SEAL_WRITE), "against writing"},
	} {
		s, err := segment.Attach(c.fd, size)
		if s != nil || !errors.Is(err, segment.ErrMemory) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if unix.Close(c.fd) == nil {
			t.Errorf("%s: the descriptor is not closed", c.what)
		}
	}
	s, err := segment.Attach(memfd(unix.MFD_ALLOW_SEALING, size, all), size) // a good one, whose maker reserved nothing
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(s.FD(), &st); err != nil || st.Blocks*512 < size {
		t.Errorf("reserved are %d bytes of %d, %v", st.Blocks*512, size, err)
	}
	s.Close()
	s.Close()
}

// TestE10_Space: memory that the system does not have is an error with the size, not a signal for who touches it. It is computed, not tried: a
// system that is asked for all of its memory kills processes.
func TestE10_Space(t *testing.T) {
	fds(t)
	for _, n := range []int{0, -1, segment.Most + 1, 1 << 50} {
		if _, err := segment.Create(n); !errors.Is(err, segment.ErrSpace) || !strings.Contains(err.Error(), fmt.Sprint(n, " bytes")) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := segment.Fits(1<<20, 2<<20); err != nil {
		t.Errorf("half of what is free: %v", err)
	}
	if err := segment.Fits(1<<20+1, 2<<20); !errors.Is(err, segment.ErrSpace) || !strings.Contains(err.Error(), "2097152 are free") {
		t.Errorf("more than half of what is free: %v", err)
	}
}

func TestMessages(t *testing.T) {
	fds(t)
	a, b := connected(t)
	buf := make([]byte, 8)
	if _, _, _, err := segment.Receive(b, buf); err != unix.EAGAIN {
		t.Errorf("nothing is there: %v", err)
	}
	if err := segment.Send(a, []byte("more than eight"), -1); err != nil {
		t.Fatal(err)
	}
	if n, fd, cut, err := segment.Receive(b, buf); err != nil || n != 8 || fd != -1 || !cut {
		t.Errorf("a message that is too long: %d bytes, descriptor %d, %v, %v", n, fd, cut, err)
	}
	for _, many := range []int{2, 3} { // two fit into what is asked for, three don't
		null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		list := []int{null, null, null}[:many]
		if err := unix.Sendmsg(a, []byte("x"), unix.UnixRights(list...), nil, 0); err != nil {
			t.Fatal(err)
		}
		unix.Close(null)
		n, fd, cut, err := segment.Receive(b, buf)
		if err != nil || n != 1 || fd < 0 || !cut {
			t.Errorf("%d descriptors: %d bytes, descriptor %d, %v, %v", many, n, fd, cut, err)
		}
		unix.Close(fd)
	}
}

func TestBell(t *testing.T) {
	fds(t)
	a, b := connected(t)
	if segment.Drain(b) {
		t.Error("gone, and it is there")
	}
	for range 5000 { // nobody looks: the socket gets full
		segment.Ring(a)
	}
	p := []unix.PollFd{{Fd: int32(b), Events: unix.POLLIN}}
	if n, err := unix.Poll(p, 0); n != 1 || err != nil {
		t.Errorf("a bell was rung: %d, %v", n, err)
	}
	if segment.Drain(b) {
		t.Error("gone, and it is there")
	}
	if n, err := unix.Poll(p, 0); n != 0 || err != nil {
		t.Errorf("all bells were taken: %d, %v", n, err)
	}
	segment.Ring(a)
	unix.Shutdown(a, unix.SHUT_RDWR)
	if !segment.Drain(b) {
		t.Error("the peer is gone, and it was not seen")
	}
	segment.Ring(b) // no signal
}

func TestNames(t *testing.T) {
	fds(t)
	for _, name := range []string{"", strings.Repeat("x", 101)} {
		if _, err := segment.Listen(name, 1); !errors.Is(err, segment.ErrName) {
			t.Errorf("Listen(%q): %v", name, err)
		}
		if _, err := segment.Dial(name); !errors.Is(err, segment.ErrName) {
			t.Errorf("Dial(%q): %v", name, err)
		}
	}
	fd, err := segment.Listen(strings.Repeat("x", 100), 1)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if _, err := segment.Dial("test-nobody"); err != unix.ECONNREFUSED {
		t.Errorf("a name that nobody has: %v", err)
	}
	if id := segment.BootID(); len(id) != 36 {
		t.Errorf("boot id %q", id)
	}
}
