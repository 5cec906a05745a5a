package tcp

import (
	"errors"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSelfConnect: a socket that dials its own port is connected with itself. That is nobody.
func TestSelfConnect(t *testing.T) {
	fd, err := sysSocket(unix.AF_INET)
	if err != nil {
		t.Fatal(err)
	}
	s := &socket{fd: fd, vec: &vector{}}
	defer s.Close(true)
	_, sa, _ := sockaddr(netip.MustParseAddrPort("127.0.0.1:0"))
	if err := unix.Bind(fd, sa); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, own); err != nil && err != unix.EINPROGRESS {
		t.Skipf("this system doesn't connect a socket with itself: %v", err)
	}
	if err := s.Connected(); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("Connected: %v, want connection refused", err)
	}
}
