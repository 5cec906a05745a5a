package demo

import (
	"time"

	"golang.org/x/sys/unix"
)

// now is the host's monotonic clock: stamps of two processes can be compared, which those of time.Now can't
// if somebody sets the date meanwhile.
func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("demo: no monotonic clock: " + err.Error()) // every system that Go runs on has one
	}
	return time.Duration(ts.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
