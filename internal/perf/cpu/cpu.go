package cpu

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// maxCPUs is above the highest number of a processor.
const maxCPUs = 1024

// Two are two processors for two processes, of two cores if there are; false if this process may use only one, or can't know.
func Two() (a, b int, ok bool) { return apart(allowed(), core) }

func apart(cpus []int, core func(int) string) (a, b int, ok bool) {
	if len(cpus) < 2 {
		return 0, 0, false
	}
	a, b = cpus[0], cpus[1]
	for _, cpu := range cpus[1:] {
		if core(cpu) != core(a) {
			return a, cpu, true
		}
	}
	return a, b, true
}

// Of reads the number of a processor; -1 if there is none.
func Of(s string) (int, error) {
	if s == "" {
		return -1, nil
	}
	if strings.Contains(s, ",") {
		return -1, fmt.Errorf("-c %s: one number, of the processor for this process; two processes, with --spawn, are bound by --cpus %s", s, s)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= maxCPUs {
		return -1, fmt.Errorf("cpu %q: a number from 0 to 1023", s)
	}
	if !CanPin {
		return -1, fmt.Errorf("cpu %d: %s can't bind a thread to a processor", n, runtime.GOOS)
	}
	return n, nil
}

// Hold binds the calling goroutine to its thread, and that to the processor asked for. It is never let go:
// the runtime ends a thread with its goroutine rather than reuse one that was bound.
func Hold(cpu string) error {
	n, err := Of(cpu)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if n < 0 {
		return nil
	}
	return pin(n)
}

// HoldAll binds the whole process to the processor asked for, and no goroutine to a thread: for what passes from goroutine to goroutine, which
// costs a switch of threads where one is bound.
func HoldAll(cpu string) error {
	n, err := Of(cpu)
	if err != nil || n < 0 {
		return err
	}
	return pinAll(n)
}

// OnThread runs fn on a thread of its own, which is bound to a processor if one is named.
func OnThread[T any](on string, fn func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		if o.err = Hold(on); o.err == nil {
			o.v, o.err = fn()
		}
		done <- o
	}()
	o := <-done
	return o.v, o.err
}
