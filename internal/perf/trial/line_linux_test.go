package trial

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLine: a thread that shares its processor with others that run all the time is seen to stand in line, though this process has other threads that run.
func TestLine(t *testing.T) {
	var old unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		t.Skip(err)
	}
	cpu := 0
	for !old.IsSet(cpu) {
		cpu++
	}
	var one unix.CPUSet
	one.Set(cpu)
	var quit atomic.Bool
	defer quit.Store(true)
	opened := make(chan *line)
	for i := range 2 {
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				t.Error(err)
			}
			if i == 0 {
				l := new(line)
				l.open()
				opened <- l
			}
			for !quit.Load() {
			}
		}()
	}
	l := <-opened
	defer l.close()
	if l.file == nil {
		t.Skip("the system does not tell")
	}
	stood := time.Duration(0)
	for end := time.Now().Add(5 * time.Second); stood < 5*time.Millisecond; time.Sleep(time.Millisecond) {
		if stood += l.stood(); time.Now().After(end) {
			t.Fatalf("two threads share a processor, and one of them stood in line for %v", stood)
		}
	}
}
