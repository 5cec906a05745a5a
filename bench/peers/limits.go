package main

import (
	"context"
	"slices"
	"time"

	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// limit is what no library goes beyond, or what one does without any.
type limit struct {
	Name   string  `json:"name"`
	Figure string  `json:"figure"`
	Size   int     `json:"size"`
	Class  string  `json:"class,omitempty"`
	Value  float64 `json:"value"`
}

// limits measures them.
func (p *peers) limits(ctx context.Context) (list []limit, err error) {
	for _, size := range []int{64 * rival.KiB, rival.MiB, 16 * rival.MiB} {
		v, err := memcpy(p.cores.A, size)
		if err != nil {
			return list, err
		}
		list = append(list, limit{Name: "memcpy, one processor", Figure: bandwidth, Size: size, Value: v})
	}
	for _, c := range []struct {
		name string
		env  []string
	}{{"bare sockets that are polled", []string{echo.Bare + "=1"}}, {"net.Conn", nil}} {
		if !cpu.CanPin {
			break
		}
		within, cancel := context.WithTimeout(ctx, rival.RunWithin)
		v, err := echo.Ends(within, p.cores.A, p.cores.B, c.env...)
		cancel()
		if err != nil {
			return list, err
		}
		list = append(list, limit{Name: c.name, Figure: latency, Size: echo.Bytes, Class: p.class(), Value: v})
	}
	return list, nil
}

// memcpy is how fast one processor copies size bytes, in MB/s: the median of many.
func memcpy(on string, size int) (float64, error) {
	got := make(chan float64)
	errs := make(chan error)
	go func() { // the thread stays bound, and ends with this goroutine
		if err := cpu.Hold(on); err != nil {
			errs <- err
			return
		}
		src, dst := make([]byte, size), make([]byte, size)
		for i := range src {
			src[i] = byte(i)
		}
		times := make([]time.Duration, 0, 64)
		for range cap(times) {
			begun := time.Now()
			copy(dst, src)
			times = append(times, time.Since(begun))
		}
		slices.Sort(times)
		got <- float64(size) / 1e6 / times[len(times)/2].Seconds()
	}()
	select {
	case v := <-got:
		return v, nil
	case err := <-errs:
		return 0, err
	}
}
