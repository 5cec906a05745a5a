package tcp

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// couple is two ends of a connection: a socket of ours, and a peer that reads when it is told to.
func couple(t *testing.T) (ours *socket, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if peer, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	ours = &socket{vec: &vector{}}
	if err := raw.Control(func(fd uintptr) { ours.fd = int(fd) }); err != nil {
		t.Fatal(err)
	}
	return ours, peer
}

// soon waits until ok, for as long as a busy machine may need.
func soon(t *testing.T, what string, ok func(i *unix.TCPInfo) bool, fd int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		i, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Fatal(err)
		}
		if ok(i) {
			return
		}
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestReached: what the peer's system takes when it had all before is no sign of life; more of what it lacked is, and so is what it sends.
func TestReached(t *testing.T) {
	s, peer := couple(t)
	taken := func(i *unix.TCPInfo) bool { return i.Unacked == 0 && i.Notsent_bytes == 0 }
	first := s.Reached()
	for range 5 { // probes that nobody reads
		if _, err := s.Writev([][]byte{make([]byte, 40)}); err != nil {
			t.Fatal(err)
		}
		soon(t, "the peer's system does not take a probe", taken, s.fd)
		if got := s.Reached(); got != first || got == 0 {
			t.Fatalf("%d, then %d: a probe that was taken is a sign of life", first, got)
		}
	}
	if _, err := peer.Write([]byte("word")); err != nil {
		t.Fatal(err)
	}
	soon(t, "what the peer sends does not come", func(i *unix.TCPInfo) bool { return i.Bytes_received == 4 }, s.fd)
	if got := s.Reached(); got == first {
		t.Error("what the peer sends is no sign of life")
	}

	for full := false; !full; { // until there is more than the peer's system takes
		_, err := s.Writev([][]byte{make([]byte, 1<<16)})
		full = err != nil
	}
	soon(t, "everything was taken", func(i *unix.TCPInfo) bool { return i.Notsent_bytes > 0 }, s.fd)
	before := s.Reached()
	if _, err := peer.Read(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	was := s.seen.acked
	go func() { // as much as there is
		for buf := make([]byte, 1<<20); ; {
			if _, err := peer.Read(buf); err != nil {
				return
			}
		}
	}()
	soon(t, "nothing more is taken", func(i *unix.TCPInfo) bool { return i.Bytes_acked+uint64(i.Delivered) != was }, s.fd)
	if got := s.Reached(); got == before {
		t.Error("more of what was lacking is no sign of life")
	}
}
