package duel

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/internal/perf/cpu"
)

// Class is how far apart two processors are.
type Class string

const (
	Near    Class = "near"
	Far     Class = "far"
	Unknown Class = "?" // nothing can be bound to a processor here
)

// farFrom is the one-way time of a cache line from which it does not come through a shared cache.
const farFrom = 150 * time.Nanosecond

// line is one cache line with neighbours of its own.
type line struct {
	_ [128]byte
	v atomic.Uint64
	_ [128]byte
}

const (
	probeBatches = 60
	probeTrips   = 200
)

// distance is the one-way time of a cache line between two processors: the median of short batches, so that a batch
// in which somebody else ran does not count.
func distance(cpuA, cpuB string) (time.Duration, error) {
	var l line
	errs := make(chan error, 2)
	times := make([]time.Duration, 0, probeBatches)
	const total = probeBatches * probeTrips
	go func() {
		err := cpu.Hold(cpuB)
		for i := uint64(1); err == nil && i <= total; i++ {
			for l.v.Load() != 2*i-1 {
			}
			l.v.Store(2 * i)
		}
		errs <- err
	}()
	go func() {
		err := cpu.Hold(cpuA)
		i := uint64(1)
		for b := 0; err == nil && b < probeBatches; b++ {
			begun := time.Now()
			for range probeTrips {
				l.v.Store(2*i - 1)
				for l.v.Load() != 2*i {
				}
				i++
			}
			times = append(times, time.Since(begun)/(2*probeTrips))
		}
		errs <- err
	}()
	for range 2 {
		if err := <-errs; err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// Classify probes.
func Classify(cpuA, cpuB string) Class {
	if runtime.GOOS != "linux" || cpuA == cpuB {
		return Unknown
	}
	d, err := distance(cpuA, cpuB)
	switch {
	case err != nil:
		return Unknown
	case d < farFrom:
		return Near
	}
	return Far
}
