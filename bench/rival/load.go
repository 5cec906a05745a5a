package rival

import (
	"strconv"
	"strings"

	"github.com/openbraid/braid/internal/perf"
)

const (
	// KiB and MiB are sizes.
	KiB = 1 << 10
	MiB = 1 << 20
)

// Load is one test to be run by braid and by a rival.
type Load struct {
	Test  string // as braid calls it
	Size  int    // bytes
	Iters int
	Pick  func(*perf.Result) float64
	More  []string // options that both know
}

// P50 is the median of the latencies, in microseconds.
func P50(r *perf.Result) float64 { return r.Latency.P50 }

// Bandwidth is in MB/s.
func Bandwidth(r *perf.Result) float64 { return r.Bandwidth }

// Rate is operations a second.
func Rate(r *perf.Result) float64 { return r.Rate }

// Bulk is a load of 256 MiB and more, for bandwidth.
func Bulk(test string, size int) Load {
	return Load{Test: test, Size: size, Iters: max(32, min(10_000, 256*MiB/size)), Pick: Bandwidth}
}

// Warm is how many operations come before those that count.
func (l Load) Warm() int { return min(l.Iters/5, perf.DefaultWarmup) }

func (l Load) args() []string {
	return append([]string{"-s", strconv.Itoa(l.Size), "-n", strconv.Itoa(l.Iters), "-w", strconv.Itoa(l.Warm())}, l.More...)
}

// ucxTest is what ucx_perftest calls a test: those of tags and streams have no prefix.
func ucxTest(test string) string {
	if strings.HasPrefix(test, "tag_") || strings.HasPrefix(test, "stream_") {
		return test
	}
	return "ucp_" + test
}

// SizeName is a size as names have it.
func SizeName(n int) string {
	switch {
	case n >= MiB && n%MiB == 0:
		return strconv.Itoa(n/MiB) + "MiB"
	case n >= KiB && n%KiB == 0:
		return strconv.Itoa(n/KiB) + "KiB"
	}
	return strconv.Itoa(n)
}
