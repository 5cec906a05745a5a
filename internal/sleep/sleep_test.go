package sleep

import (
	"runtime"
	"sync"
	"sync/atomic"
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

// TestWokenRunsFirst: with one processor of the language's, whom the sleeper has woken runs before it sleeps, not after the runtime has taken the
// processor away. Now and then the scheduler takes the sleeper first, for fairness.
func TestWokenRunsFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const tries = 200
	first := 0
	for range tries {
		var ran atomic.Bool
		go ran.Store(true)
		s.Wake() // the sleep itself takes no time
		s.Wait(-1)
		if ran.Load() {
			first++
		}
	}
	if first < tries*3/4 {
		t.Errorf("%d of %d that were woken ran before the sleep", first, tries)
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
	arm := func(what string, after time.Duration, want bool) {
		t.Helper()
		if got := s.Arm(after); got != want {
			t.Fatalf("%s: Arm = %v", what, got)
		}
		expect(what, !want)
	}
	expect("new", false)
	arm("new", -1, true)
	s.Wake()
	expect("woken", true)
	if s.Arm(-1) {
		t.Fatal("Arm slept over a wake-up")
	}
	arm("woken and told", -1, true)
	unix.Write(p[1], []byte{1})
	arm("data", -1, false)
	unix.Read(p[0], make([]byte, 1))
	arm("data read", -1, true)
	arm("with an alarm", time.Millisecond, true)
	for end := time.Now().Add(5 * time.Second); !readable(); {
		if time.Now().After(end) {
			t.Fatal("no alarm")
		}
	}
	begin := time.Now()
	s.Wait(20 * time.Millisecond)
	if d := time.Since(begin); d < 10*time.Millisecond {
		t.Fatalf("an old alarm woke after %v who slept for something else", d)
	}
	arm("alarm put off", time.Hour, true)
	arm("no alarm", -1, true)
}

// TestBellIsQuietInTheEnd: whatever rings and answers at once, no byte is left that nobody will take away.
func TestBellIsQuietInTheEnd(t *testing.T) {
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2000 {
		var rings sync.WaitGroup
		for range 3 {
			rings.Go(s.Wake)
		}
		s.answer()
		s.answer()
		rings.Wait()
		s.answer() // takes what is left, however the others met
		var b [1]byte
		if n, _ := unix.Read(s.r, b[:]); n > 0 {
			t.Fatal("a byte is left, and the bell says that it was not rung")
		}
		if s.rung.Load() {
			t.Fatal("the bell says that it was rung, and there is nothing to wake anybody")
		}
	}
}

// TestBellAnsweredInMidRing: who answers between the two steps of a ring finds nothing to read yet, and what then comes is taken by the next
// answer: it must not wake for ever.
func TestBellAnsweredInMidRing(t *testing.T) {
	s, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.rung.Store(true) // the first step
	if !s.answer() {
		t.Error("a ring that has begun is none")
	}
	unix.Write(s.w, []byte{1}) // the second
	s.answer()
	var b [1]byte
	if n, _ := unix.Read(s.r, b[:]); n > 0 {
		t.Error("the byte was not taken: it would wake for ever")
	}
	if s.answer() {
		t.Error("one ring was answered three times")
	}
}
