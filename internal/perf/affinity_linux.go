package perf

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const canPin = true

// pin binds the calling thread.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("can't run on cpu %d: %w", cpu, err)
	}
	return nil
}
