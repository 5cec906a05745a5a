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
