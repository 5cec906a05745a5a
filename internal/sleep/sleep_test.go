package sleep

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWakeBeforeAndDuringWait(t *testing.T) {
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 1000 {
		s.Wake()
		s.Wake()
		s.Wait(-1) // would hang if the wake-up were lost
	}
	for range 100 {
		done := make(chan struct{})
		go func() { s.Wait(-1); close(done) }()
		s.Wake()
		<-done
	}
}

func TestWaitEnds(t *testing.T) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	s, err := New([]int{p[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begin := time.Now()
	s.Wait(2 * time.Millisecond)
	if d := time.Since(begin); d < time.Millisecond {
		t.Fatalf("woke after %v without a reason", d)
	}
	unix.Write(p[1], []byte{1})
	s.Wait(-1)
}

// TestFD: the one descriptor is readable exactly as long as there is a reason.
func TestFD(t *testing.T) {
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	s, err := New([]int{p[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.FD() < 0 {
		t.Skip("this system has no one descriptor for a set")
	}
	readable := func() bool {
		fds := []unix.PollFd{{Fd: int32(s.FD()), Events: unix.POLLIN}}
		n, _ := unix.Poll(fds, 0)
		return n == 1
	}
	expect := func(what string, want bool) {
		t.Helper()
		if got := readable(); got != want {
			t.Fatalf("%s: readable = %v", what, got)
		}
	}
	expect("new", false)
	s.Wake()
	expect("woken", true)
	s.Alarm(-1)
	expect("armed", false)
	unix.Write(p[1], []byte{1})
	expect("data", true)
	unix.Read(p[0], make([]byte, 1))
	expect("data read", false)
	s.Alarm(0)
	for end := time.Now().Add(5 * time.Second); !readable(); {
		if time.Now().After(end) {
			t.Fatal("no alarm")
		}
	}
	s.Alarm(time.Hour)
	expect("alarm put off", false)
	s.Alarm(-1)
	expect("no alarm", false)
}
