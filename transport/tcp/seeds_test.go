package tcp

import "testing"

// Seeds is how many of so many seeds are tried: fewer under the race detector.
func Seeds(n uint64) uint64 {
	if testing.Short() {
		return n/5 + 1
	}
	return n
}
