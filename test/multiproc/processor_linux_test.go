package multiproc

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startOn is start, on one processor.
func startOn(t *testing.T, cpu int, j job) *child {
	t.Helper()
	runtime.LockOSThread() // a process is born where its parent's thread may run
	defer runtime.UnlockOSThread()
	var was, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &was); err != nil {
		t.Fatal(err)
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	defer unix.SchedSetaffinity(0, &was)
	return start(t, j)
}

// someProcessor is one on which this process may run.
func someProcessor(t *testing.T) int {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1 << 10 {
		if may.IsSet(cpu) {
			return cpu
		}
	}
	t.Fatal("no processor")
	return 0
}

// TestOneProcessor: two processes that poll on one processor let each other have it. Else each answer waits for the end of a slice of time, of which all is
// spent on polling: that is what is measured, since how long anything takes is up to whoever else uses the processor.
func TestOneProcessor(t *testing.T) {
	for _, role := range []string{"ask", "ask shared"} {
		t.Run(role, func(t *testing.T) {
			begin(t)
			cpu := someProcessor(t)
			server := startOn(t, cpu, job{Role: "answer", Addr: "127.0.0.1:0", Size: 8})
			j := job{Role: role, Addr: server.expect("addr"), Count: 300}
			const most = time.Millisecond // an answer takes ten, a hundred with the race detector; a slice three thousand, less if strangers cut it short
			took := time.Duration(startOn(t, cpu, j).number("took")) * time.Microsecond
			t.Logf("%v of a processor for each answer", took)
			if took > most {
				t.Errorf("%v of a processor for each answer: who polls keeps his peer from running", took)
			}
		})
	}
}
