package perftest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/openbraid/braid/internal/perf"
)

// sizes are those of the buffers of an operation: one, or those of a list. Units are powers of 1024, as in UCX.
type sizes struct{ list []int }

// mostBytes of a buffer are read: how many there may be is said elsewhere.
const mostBytes = 1 << 40

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *sizes) UnmarshalText(text []byte) error {
	v.list = nil
	for _, word := range strings.Split(strings.ToLower(string(text)), ",") {
		digits := strings.TrimRight(word, "kmgib")
		unit, known := map[string]int{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30}[word[len(digits):]]
		n, err := strconv.Atoi(digits)
		if err != nil || !known || n < -mostBytes/unit || n > mostBytes/unit {
			return fmt.Errorf("%s: no number of bytes; write 8, 64k or 1m, of a list (-D iov) 8,64k", text)
		}
		v.list = append(v.list, n*unit)
	}
	return nil
}

// sum is the size of an operation.
func (v *sizes) sum() (n int) {
	for _, s := range v.list {
		n += s
	}
	return n
}

// threads are how many measure at a time, one number of them after the other.
type threads struct{ list []int }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *threads) UnmarshalText(text []byte) error {
	v.list = nil
	for _, word := range strings.Split(string(text), ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > perf.MostThreads {
			return fmt.Errorf("%s: no number of threads; write 4, or 1,2,4 for a table; 1 to %d", text, perf.MostThreads)
		}
		v.list = append(v.list, n)
	}
	return nil
}

// most is the largest: as many as a server needs.
func (v *threads) most() int {
	n := 1
	for _, t := range v.list {
		n = max(n, t)
	}
	return n
}

// several says whether there is more to it than one thread.
func (v *threads) several() bool { return len(v.list) > 1 || v.most() > 1 }
